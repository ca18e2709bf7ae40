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
  does: 'Combines the sources: creates a document for every combination of one object of each source for which the condition is true. The document is a map of these objects; its keys are the kinds of the sources, or their aliases (`as`). `@join` must be the first stage, and is required for several sources. Each equality in the condition, or in its `@and`, has an index (`@eq`, and `@in` with a list from one side), so the cost of a change depends only on the objects that match. If no equality links a source to the others, all its objects are compared, and a warning says so. A combination whose condition fails is left out and reported.',
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
  does: 'Creates a new document that contains only the members of the map. If a list of maps is given, each map is evaluated on the old document, and the results are merged: later ones override earlier ones, and lists in both are concatenated. A key that begins with `$` sets a value at a path, and `"$."` copies all members of a map.',
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
  does: 'Creates a document for each element of the list at a path: a copy of the document with the element instead of the list, and with `-0`, `-1`, … appended to its name. An empty, missing or null list creates no document. Any other value at the path is an error: the document is left out and reported.',
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
  does: 'Groups documents by a key, and creates one document per group: the document with the lowest name, with the sorted list of the values of all documents at the path. A document whose key or value is absent or null is left out. The choice depends only on the documents of the group, so a restart gives the same result.',
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
