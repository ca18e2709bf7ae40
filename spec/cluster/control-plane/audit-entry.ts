/** A request to the API server. */
export interface AuditEntry {
  readonly auditId: string;
  readonly user: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb: string;
  /** API group; empty for the core group and for paths without a resource. */
  readonly group: string;
  /** Plural name; empty for paths without a resource. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty when the request names no object (a list, a create with `generateName`). */
  readonly name: string;
  /** HTTP status. */
  readonly code: number;
  /** Path and query. */
  readonly uri: string;
  readonly userAgent: string;
  /** Time of receipt: milliseconds since 1970, with microseconds as fraction. */
  readonly receivedAtMs: number;
  /** Time of the response; for a running watch, when its response began. */
  readonly answeredAtMs: number;
}

/** Verbs that write. */
export const writeVerbs: readonly string[] = [
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
];

/** Fields of an `audit.k8s.io/v1` Event that are read here. */
interface AuditEvent {
  readonly auditID: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username?: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/**
 * Reads a line of an audit log. Its format:
 * https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
 */
export function parseAuditLine(line: string): AuditEntry {
  const event = JSON.parse(line) as AuditEvent;
  const { apiGroup, resource, subresource, namespace, name } = event.objectRef ?? {};
  return {
    auditId: event.auditID,
    user: event.user.username ?? '',
    verb: event.verb,
    group: apiGroup ?? '',
    resource: resource ?? '',
    subresource: subresource ?? '',
    namespace: namespace ?? '',
    name: name ?? '',
    code: event.responseStatus?.code ?? 0,
    uri: event.requestURI,
    userAgent: event.userAgent ?? '',
    receivedAtMs: parseMicroTime(event.requestReceivedTimestamp),
    answeredAtMs: parseMicroTime(event.stageTimestamp),
  };
}

/** Parses a time with microseconds, since `Date.parse` stops at milliseconds. */
function parseMicroTime(time: string): number {
  const micros = /\.\d{3}(\d{3})/.exec(time)?.[1] ?? '0';
  return Date.parse(time) + Number(micros) / 1000;
}
