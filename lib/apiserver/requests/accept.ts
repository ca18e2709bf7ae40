import { notAcceptable } from '../status-error.js';

/** The form in which the server returns objects. */
export type Representation = 'object' | 'table' | 'metadata';

/** The result of content negotiation: an accepted form that this server can serve. */
export interface Accepted {
  readonly representation: Representation;
}

const served = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
];

/**
 * Picks the first JSON representation in `accept`. Protobuf is skipped, because clients that accept
 * it also accept JSON.
 * @throws StatusError 406: `accept` has no representation that the server can serve.
 */
export function negotiate(accept: string | undefined): Accepted {
  if (accept === undefined || accept.trim() === '') return { representation: 'object' };
  for (const clause of accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
    const mediaType = type.toLowerCase();
    if (!['application/json', '*/*', 'application/*'].includes(mediaType)) continue;
    const values = new Map(parameters.map((parameter) => parameter.split('=') as [string, string]));
    const as = values.get('as');
    if (as === undefined) return { representation: 'object' };
    if (values.get('g') !== 'meta.k8s.io' || values.get('v') !== 'v1') continue;
    if (as === 'Table') return { representation: 'table' };
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') {
      return { representation: 'metadata' };
    }
  }
  throw notAcceptable(served);
}
