import type { TransportRequest } from '../../system/transport.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { failure } from '../status-error.js';
import type { PatchBody } from '../writes/patch-object.js';
import { mediaTypeOf } from './body.js';

const patchTypes: Readonly<Partial<Record<string, PatchBody['type'] | 'apply'>>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/**
 * Returns the type of a patch from its media type.
 * @throws StatusError 415: the type is unknown, or it is a strategic patch of a custom resource.
 */
export function patchTypeOf(
  request: TransportRequest,
  kind: ServedKind,
): PatchBody['type'] | 'apply' {
  const type = patchTypes[mediaTypeOf(request)];
  if (type !== undefined && (type !== 'strategic' || kind.custom === undefined)) return type;
  const details = kind.custom === undefined ? {} : undefined;
  throw failure(415, 'UnsupportedMediaType', messageFor(kind), details);
}

function messageFor({ custom }: ServedKind): string {
  if (custom === undefined) return '415: Unsupported Media Type';
  const supported =
    'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml';
  return `the body of the request was in an unknown format - accepted media types include: ${supported}`;
}
