import { readFileSync } from 'node:fs';

/** A request and what the real server answered to it, as {@link comparable} leaves it. */
export interface RecordedStep {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Further headers, for example whom to impersonate. @defaultValue none */
  readonly headers?: Readonly<Record<string, string>>;
  /** @defaultValue 'application/json' */
  readonly type?: string;
  /** @defaultValue 'application/json' */
  readonly accept?: string;
  /** Why our answer may be another one. */
  readonly differs?: string;
  readonly answer?: RecordedAnswer;
}

/** An answer. */
export interface RecordedAnswer {
  readonly code: number;
  readonly warning?: string;
  readonly body: unknown;
}

/** The namespace of the requests, in recordings. */
export const recordedNamespace = 'recorded';

/** The recordings, in the order in which they are replayed. */
export const topics = [
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
] as const;

/** Those that are about who may do what. */
export const withRbac: readonly string[] = ['access'];

/** Where a recording is. */
export function recordingUrl(topic: string): URL {
  return new URL(`recorded/${topic}.jsonl`, import.meta.url);
}

/** The steps of a recording, one a line. */
export function recordingOf(topic: string): readonly RecordedStep[] {
  const lines = readFileSync(recordingUrl(topic), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as RecordedStep);
}

/** The answer as it came: JSON where it is JSON. */
export function parsedBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
