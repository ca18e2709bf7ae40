import { readFileSync } from 'node:fs';

/** A request and the answer of the real server, normalized by {@link comparable}. */
export interface RecordedStep {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Further headers, such as the user to impersonate. @defaultValue none */
  readonly headers?: Readonly<Record<string, string>>;
  /** @defaultValue 'application/json' */
  readonly type?: string;
  /** @defaultValue 'application/json' */
  readonly accept?: string;
  /** The reason why the answer of the embedded server may differ. */
  readonly differs?: string;
  readonly answer?: RecordedAnswer;
}

export interface RecordedAnswer {
  readonly code: number;
  readonly warning?: string;
  readonly body: unknown;
}

/** The namespace in recorded requests. */
export const recordedNamespace = 'recorded';

/** The recordings, in the order in which they are replayed. */
export const topics = [
  'new-cluster',
  'wrong-fields',
  'metadata',
  'workloads',
  'services-and-pods',
  'scale-and-apply',
  'custom-resources',
  'other-kinds',
  'discovery-and-bad-input',
  'malformed-bodies',
  'pod-specs',
  'workload-specs',
  'network-specs',
  'more-kinds',
  'names',
  'tables',
  'access',
  'webhooks',
  'policies',
  'owners',
  'stored-versions',
  'rare-fields',
  'flow-control',
  'storage-drivers',
  'api-services',
  'volumes',
  'limits',
  'containers',
  'admission-policies',
  'printed-states',
  'yaml',
  'exact-limits',
  'quotas',
] as const;

/** The recordings with RBAC. */
export const withRbac: readonly string[] = ['access'];

/** Returns the location of a recording. */
export function recordingUrl(topic: string): URL {
  return new URL(`recorded/${topic}.jsonl`, import.meta.url);
}

/** Returns the steps of a recording, which has one per line. */
export function recordingOf(topic: string): readonly RecordedStep[] {
  const lines = readFileSync(recordingUrl(topic), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as RecordedStep);
}

/** Parses a body as JSON if possible. */
export function parsedBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
