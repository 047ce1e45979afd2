// Runs compile_tree.py with the Python of Pyodide under Node.js.
// Arguments: folder of Pyodide, compile_tree.py, folder to compile, its place on the target.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, script, folder, root] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({
  indexURL: pyodide,
  env: { HOME: "/", PYTHONHASHSEED: "0", PYTHONDONTWRITEBYTECODE: "1" },
});
python.mountNodeFS("/tree", folder);
python.FS.writeFile("/compile_tree.py", readFileSync(script, "utf8"));
python.globals.set("target_root", root);
try {
  python.runPython(`
import runpy, sys
sys.argv = ["compile_tree.py", "/tree", target_root]
runpy.run_path("/compile_tree.py", run_name="__main__")
`);
} catch (error) {
  // Node would print megabytes of minified source around it.
  console.error(error.message);
  process.exitCode = 1;
}
