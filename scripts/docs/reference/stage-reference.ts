import type { Document } from '../../../lib/declarative/index.js';

/** A pipeline with its input and result. A spec runs every example. */
export interface StageExample {
  /** The documents of each source, by its name in the pipeline. */
  readonly sources: Readonly<Record<string, readonly Document[]>>;
  readonly pipeline: unknown;
  readonly result: readonly Document[];
}

/** The documentation of a stage. */
export interface StageReference {
  readonly name: string;
  /** Aliases of the stage. */
  readonly aliases?: readonly string[];
  /** The written forms; `…` stands for repetition. */
  readonly forms: readonly string[];
  /** Description: effect, and treatment of documents that do not fit. */
  readonly does: string;
  readonly examples: readonly StageExample[];
}

const join: StageReference = {
  name: '@join',
  forms: ['{"@join": condition}'],
  does: 'Every combination of one object of each source for which the condition is true; the document is a map of them, by the kinds of the sources or what `as` calls them. It is the first stage, and has to be there where there are several sources. An index is kept of each equality (`@eq`, and `@in` with a list of one side) in the condition, or in the `@and` that it is: a change costs what it touches. A source that no equality ties to the others is compared whole, which a warning says. A combination whose condition fails is left out, and reported.',
  examples: [
    {
      sources: {
        Service: [{ metadata: { name: 'web' }, app: 'shop' }],
        Pod: [
          { metadata: { name: 'pod-1' }, app: 'shop' },
          { metadata: { name: 'pod-2' }, app: 'bank' },
        ],
      },
      pipeline: [{ '@join': { '@eq': ['$.Service.app', '$.Pod.app'] } }],
      result: [
        {
          Service: { metadata: { name: 'web' }, app: 'shop' },
          Pod: { metadata: { name: 'pod-1' }, app: 'shop' },
        },
      ],
    },
  ],
};

const select: StageReference = {
  name: '@select',
  forms: ['{"@select": condition}'],
  does: 'The documents for which the condition is true, as they are. Neither true nor false, null for example, is an error: such a document is left out, and reported.',
  examples: [
    {
      sources: {
        Pod: [
          { metadata: { name: 'a' }, ready: true },
          { metadata: { name: 'b' }, ready: false },
        ],
      },
      pipeline: [{ '@select': '$.ready' }],
      result: [{ metadata: { name: 'a' }, ready: true }],
    },
  ],
};

const project: StageReference = {
  name: '@project',
  forms: ['{"@project": map}', '{"@project": [map, …]}'],
  does: 'A new document, which has nothing of the old one but what the map says. Each map of a list is evaluated on the old document, and they are merged, the later over the earlier; lists that are in both are appended. Keys that begin with `$` set at a path, and `"$."` copies.',
  examples: [
    {
      sources: { Pod: [{ metadata: { name: 'a', namespace: 'web' }, spec: { node: 'n1' } }] },
      pipeline: [{ '@project': { metadata: '$.metadata', node: '$.spec.node' } }],
      result: [{ metadata: { name: 'a', namespace: 'web' }, node: 'n1' }],
    },
    {
      sources: { Pod: [{ metadata: { name: 'a' }, spec: { node: 'n1' } }] },
      pipeline: [{ '@project': [{ '$.': '$' }, { '$.metadata.labels.node': '$.spec.node' }] }],
      result: [{ metadata: { name: 'a', labels: { node: 'n1' } }, spec: { node: 'n1' } }],
    },
  ],
};

const unwind: StageReference = {
  name: '@unwind',
  aliases: ['@demux'],
  forms: ['{"@unwind": path}'],
  does: 'A document for each element of the list at a path: the same document with the element in place of the list, and `-0`, `-1`, … at the end of its name. None where the list is empty, missing or null. Anything else there is an error: such a document is left out, and reported.',
  examples: [
    {
      sources: { Service: [{ metadata: { name: 'web' }, ports: [80, 443] }] },
      pipeline: [{ '@unwind': '$.ports' }],
      result: [
        { metadata: { name: 'web-0' }, ports: 80 },
        { metadata: { name: 'web-1' }, ports: 443 },
      ],
    },
  ],
};

const gather: StageReference = {
  name: '@gather',
  aliases: ['@mux'],
  forms: ['{"@gather": [key, path]}'],
  does: 'One document for all that have the same key: the one with the lowest name, in which the list of the values of all, sorted, stands at the path. A document without a key, or without a value there (absent or null), is left out. Which document stands for the others depends on nothing but what there is, so a restart gives the same.',
  examples: [
    {
      sources: {
        Pod: [
          { metadata: { name: 'pod-2' }, app: 'shop', ip: '10.0.0.7' },
          { metadata: { name: 'pod-1' }, app: 'shop', ip: '10.0.0.9' },
          { metadata: { name: 'pod-3' }, app: 'bank', ip: '10.0.0.8' },
        ],
      },
      pipeline: [
        { '@gather': ['$.app', '$.ip'] },
        { '@project': { metadata: { name: '$.app' }, addresses: '$.ip' } },
      ],
      result: [
        { metadata: { name: 'shop' }, addresses: ['10.0.0.7', '10.0.0.9'] },
        { metadata: { name: 'bank' }, addresses: ['10.0.0.8'] },
      ],
    },
  ],
};

/** All stages of the documentation; a spec compares them with the implemented ones. */
export const stageReference: readonly StageReference[] = [join, select, project, unwind, gather];
