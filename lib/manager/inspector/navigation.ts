import { html } from './html.js';
import type { Html } from './html.js';
import type { Overview } from './overview.js';
import type { Section } from './sections.js';

/** Returns links to the sections of a page. */
export function sectionLinks(sections: readonly Pick<Section, 'id' | 'title'>[]): Html {
  const links = sections.map(({ id, title }) => html`<li><a href="#${id}-title">${title}</a></li>`);
  return html`<nav aria-label="Sections">
    <ul>
      ${links}
    </ul>
  </nav>`;
}

/** Returns the form that opens the ownership tree of an object. */
export function objectForm({ caches, clusters }: Overview): Html {
  const kinds = [...new Set(caches.items.map(({ kind }) => kind))];
  const versions = [...new Set(caches.items.map(({ apiVersion }) => apiVersion))];
  const isNamed = clusters.items.some((name) => name !== '');
  return html`<section aria-labelledby="choose-title">
    <h2 id="choose-title">Choose an object</h2>
    <p>
      Shows who owns it, and what it controls. What is not cached is read from the server, with the
      permissions of the operator. Or choose one of a <a href="#caches-title">cached kind</a>.
    </p>
    <form action="/object" method="get">
      ${isNamed ? field('cluster', 'Cluster', clusters.items) : undefined}
      ${field('apiVersion', 'API version', versions)} ${field('kind', 'Kind', kinds)}
      ${field('namespace', 'Namespace')} ${field('name', 'Name')}
      <button type="submit">Show ownership</button>
    </form>
  </section> `;
}

function field(name: string, label: string, known: readonly string[] = []): Html {
  const isRequired = name !== 'namespace' && name !== 'cluster';
  const options = known.map((value) => html`<option value="${value}"></option>`);
  return html`<label
      >${label}
      <input
        name="${name}"
        autocomplete="off"
        spellcheck="false"
        ${
          isRequired ? html` required` : undefined
        }${known.length > 0 ? html` list="known-${name}"` : undefined}
    /></label>
    ${known.length > 0 ? html`<datalist id="known-${name}">${options}</datalist>` : undefined}`;
}
