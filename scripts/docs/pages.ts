import { readFile } from 'node:fs/promises';

/** Related pages, in reading order. */
export interface Section {
  readonly title: string;
  /** Files, for example `docs/builder.md`. */
  readonly pages: readonly string[];
}

/** The navigation of the site; the reference of the API follows it. */
export const sections: readonly Section[] = [
  {
    title: 'Begin',
    pages: [
      ...docs('getting-started', 'operator', 'tutorial', 'workflow'),
      ...docs('from-client-node', 'from-controller-runtime'),
    ],
  },
  {
    title: 'Styles',
    pages: docs(
      ...['builder', 'resource-chains', 'lifecycle', 'declarative', 'declarative-in-a-cluster'],
      'declarative-reference',
    ),
  },
  {
    title: 'Testing and tools',
    pages: docs(
      'testing',
      'embedded-cluster',
      'test-server',
      'run',
      'plan',
      'deploying',
      'command-line',
    ),
  },
  {
    title: 'In depth',
    pages: [
      ...docs('custom-resources', 'api-evolution', 'controller', 'manager', 'cache', 'webhooks'),
      ...docs(
        'leader-election',
        'sharding',
        'metrics',
        'inspector',
        'errors',
        'reference',
        'runtimes',
        'performance',
        'architecture',
      ),
    ],
  },
  {
    title: 'Samples',
    pages: ['parseable', 'resource-chain', 'lifecycle', 'declarative'].map(
      (name) => `samples/${name}/README.md`,
    ),
  },
];

/** All pages of the navigation, in its order. */
export const pages: readonly string[] = sections.flatMap((section) => section.pages);

/** Returns the first heading of `page`, which is its title in the navigation. */
export async function titleOf(page: string): Promise<string> {
  const [, title] = /^# (.+)$/m.exec(await readFile(page, 'utf8')) ?? [];
  if (title === undefined) throw new Error(`${page} has no heading of the first level`);
  return title.replaceAll('`', '');
}

function docs(...names: readonly string[]): readonly string[] {
  return names.map((name) => `docs/${name}.md`);
}
