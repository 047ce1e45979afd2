// Settings of the account: API keys and webhooks.

import { Keys } from "./keys.js";
import { Head, html } from "./ui.js";
import { Webhooks } from "./webhooks.js";
import { t } from "./words.js";

const TABS = { keys: Keys, webhooks: Webhooks };

export function Settings({ rest: [tab] }) {
  const shown = Object.hasOwn(TABS, tab ?? "") ? tab : "keys";
  const Content = TABS[shown];
  return html`
    <${Head} title=${t("menu.settings")} />
    <nav class="tabs" aria-label=${t("menu.settings")}>
      ${Object.keys(TABS).map(
        (name) => html`
          <a href=${`#/settings/${name}`} aria-current=${shown === name ? "page" : undefined}>
            ${t(`settings.${name}`)}
          </a>
        `,
      )}
    </nav>
    <${Content} />
  `;
}
