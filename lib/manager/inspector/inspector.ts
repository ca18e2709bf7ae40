import type { Random } from '../../system/index.js';
import { websiteProblem } from '../../system/index.js';
import { keyString } from '../../object/index.js';
import type { HttpAnswer, HttpQuestion } from '../http-endpoint.js';
import type { ManagedCluster } from '../managed-cluster.js';
import type { ResolvedInspectorOptions } from './bind-inspector.js';
import { html, objectPath, objectLink, firstMapped, andMore } from './html.js';
import type { Html, Section } from './html.js';
import { LivePages, objectForm, sectionLinks, answerPage, commonHeaders } from './page.js';
import { objectSections, sectionElement, sectionsOf } from './sections.js';
import { ObjectTreeReader } from './object-tree.js';
import type { ObjectTree } from './object-tree.js';
import type { Overview, ShownObject } from './overview.js';
import { overviewOf } from './overview-of.js';
import type { OverviewSources } from './overview-of.js';
import type { Page } from './page.js';

export interface InspectorParts extends OverviewSources {
  readonly options: ResolvedInspectorOptions;
  readonly random: Random;
}

/** Answers the requests of the inspector; docs/inspector.md lists what it shows and what it omits. */
export class Inspector {
  readonly #parts: InspectorParts;
  readonly #livePages: LivePages;
  #rendered: { readonly atMs: number; readonly sections: readonly Section[] } | undefined;

  constructor(parts: InspectorParts) {
    const { clock, options } = parts;
    this.#parts = parts;
    this.#livePages = new LivePages({ clock, ...options });
  }

  async answer(question: HttpQuestion): Promise<HttpAnswer> {
    const { options } = this.#parts;
    const refusal = websiteProblem(question, options.allowedHosts, { links: true });
    if (refusal !== undefined) return plain(403, refusal);
    switch (question.url.pathname) {
      case '/':
        return this.#page(this.#firstPage());
      case '/status.json':
        return json(overviewOf(this.#parts));
      case '/events':
        return this.#livePages.answer(() => this.#sections(), question);
      case '/object':
        return this.#answerObject(question, (tree) => this.#objectPage(tree, question));
      case '/object/events':
        return this.#answerObject(question, ({ read }) =>
          this.#livePages.answer(async () => objectSections(await read()), question),
        );
      case '/objects':
        return this.#page(this.#objectsPage(question.url));
      default:
        return plain(404, 'there is no such page');
    }
  }

  /** Returns the sections of the first page. All live pages share one rendering. */
  #sections(): readonly Section[] {
    const { clock, options } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (this.#rendered === undefined || nowMs - this.#rendered.atMs >= options.updateMs / 2) {
      this.#rendered = { atMs: nowMs, sections: sectionsOf(overviewOf(this.#parts)) };
    }
    return this.#rendered.sections;
  }

  #firstPage(): Page {
    const overview = overviewOf(this.#parts);
    const sections = sectionsOf(overview);
    const main = html`${sections.map(sectionElement)}${objectForm(overview)}`;
    const nav = sectionLinks([...sections, { id: 'choose', title: 'Choose an object' }]);
    return { status: 200, title: 'Operator inspector', nav, main, events: '/events' };
  }

  async #answerObject(
    { url, signal }: HttpQuestion,
    answer: (tree: LiveTree) => Promise<HttpAnswer> | HttpAnswer,
  ): Promise<HttpAnswer> {
    const object = objectOf(url);
    if (object === undefined) return this.#problem(400, 'Give at least apiVersion, kind and name.');
    const cluster = this.#clusterOf(object.cluster);
    if (cluster === undefined) return this.#problem(404, `There is no cluster ${object.cluster}.`);
    const reader = new ObjectTreeReader(cluster, this.#parts.clock);
    return answer({ object, read: () => reader.read(object, signal) });
  }

  async #objectPage({ object, read }: LiveTree, { url }: HttpQuestion): Promise<HttpAnswer> {
    const tree = await read();
    const { from } = tree.view;
    return this.#page({
      status: from === 'gone' ? 404 : from === 'unreadable' ? 502 : 200,
      title: `${object.kind} ${keyString(object)}`,
      nav: backLink,
      main: html`${objectSections(tree).map(sectionElement)}`,
      events: objectPath(objectOf(url) ?? object, '/object/events'),
    });
  }

  #objectsPage(url: URL): Page {
    const { cluster = '', apiVersion = '', kind = '' } = Object.fromEntries(url.searchParams);
    const { cache } = this.#clusterOf(cluster) ?? {};
    const informers = [false, true].flatMap(
      (only) => cache?.peek({ apiVersion, kind }, only) ?? [],
    );
    const [informer] = informers;
    const title = `${kind} (${apiVersion})`;
    if (informer === undefined) {
      const main = html`<p class="none">The kind is not cached.</p>`;
      return { status: 404, title, nav: backLink, main };
    }
    const { items, more } = firstMapped([...informer.store.entries()], ([, object]) =>
      objectLink({
        cluster,
        apiVersion,
        kind,
        ...object.metadata,
        name: object.metadata.name ?? '',
      }),
    );
    const list = html`<ul>
        ${items.map((link) => html`<li>${link}</li>`)}
      </ul>
      ${andMore(more)}`;
    const none = html`<p class="none">The cache has no such objects.</p>`;
    return { status: 200, title, nav: backLink, main: items.length === 0 ? none : list };
  }

  #clusterOf(name: string): ManagedCluster | undefined {
    const { clusters } = this.#parts;
    return name === '' ? [...clusters.values()][0] : clusters.get(name);
  }

  #problem(status: number, text: string): HttpAnswer {
    const main = html`<p>${text}</p>`;
    return this.#page({ status, title: 'Operator inspector', nav: backLink, main });
  }

  #page(page: Page): HttpAnswer {
    return answerPage(page, this.#parts.random.uuid());
  }
}

/** The ownership tree of an object, read repeatedly for a live page. */
interface LiveTree {
  readonly object: ShownObject;
  readonly read: () => Promise<ObjectTree>;
}

const backLink: Html = html`<nav aria-label="Site">
  <ul>
    <li><a href="/">All controllers</a></li>
  </ul>
</nav>`;

function objectOf({ searchParams }: URL): ShownObject | undefined {
  const part = (name: string): string => searchParams.get(name)?.trim() ?? '';
  const [apiVersion, kind, name] = [part('apiVersion'), part('kind'), part('name')];
  if (apiVersion === '' || kind === '' || name === '') return undefined;
  const namespace = part('namespace');
  const place = namespace === '' ? {} : { namespace };
  return { cluster: part('cluster'), apiVersion, kind, ...place, name };
}

function json(overview: Overview): HttpAnswer {
  const headers = { ...commonHeaders, 'content-type': 'application/json' };
  return { status: 200, headers, body: `${JSON.stringify(overview, undefined, 2)}\n` };
}

function plain(status: number, text: string): HttpAnswer {
  return { status, headers: commonHeaders, body: `${text}\n` };
}
