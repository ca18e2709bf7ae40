import type { RecordedAnswer } from './recording.js';

const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const uids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Members that differ in each run. */
const random: ReadonlySet<string> = new Set([
  'resourceVersion',
  'continue',
  'serverAddress',
  // Depends on the group, which differs in each run.
  'storageVersionHash',
]);

/**
 * Returns what is equal in two runs: no uids, times or versions, nothing that depends on the order
 * of Go's maps.
 */
export function comparable({ code, warning, body }: RecordedAnswer): RecordedAnswer {
  const said = warning === undefined ? {} : { warning: text(warning) };
  return { code, ...said, body: value(body, '') };
}

function value(given: unknown, name: string): unknown {
  if (typeof given === 'string') return random.has(name) ? name : text(given, name);
  if (Array.isArray(given)) {
    const items = given.map((item: unknown) => value(item, ''));
    return sets.has(name) ? items.sort(byText) : items;
  }
  if (name === 'nodePort' && typeof given === 'number' && given >= 30_000) return 'PORT';
  if (typeof given !== 'object' || given === null) return given;
  const members = Object.entries(status(given as Members)).map(
    ([member, inner]) => [text(member), value(inner, member)] as const,
  );
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Lists without a significant order. */
const sets: ReadonlySet<string> = new Set([
  'causes',
  'managedFields',
  'resources',
  'nonResourceRules',
  'resourceRules',
]);

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

type Members = Readonly<Record<string, unknown>>;

/** Drops the causes from a message with several causes, which repeats them in random order. */
function status(object: Members): Members {
  const { kind, message, details } = object;
  if (kind !== 'Status' || typeof message !== 'string') return object;
  const { causes = [] } = (details ?? {}) as { causes?: readonly unknown[] };
  return causes.length < 2 ? object : { ...object, message: message.replace(/: \[.*/s, ': […]') };
}

function text(given: string, name = ''): string {
  if (name === 'description') return given.slice(0, 20);
  return (
    given
      .replace(uids, 'UID')
      .replace(times, 'TIME')
      .replace(
        /(record \(|current: |ResourceVersion in object meta: |too old resource version: (?:\d+ \()?)\d+/g,
        '$1VERSION',
      )
      .replace(/\\"resourceVersion\\":\\"\d+\\"/g, '\\"resourceVersion\\":\\"VERSION\\"')
      .replace(/^10\.96\.\d+\.\d+$/, 'ADDRESS')
      .replace(/^(\d+[smhdy])+$/, 'AGE')
      // Go's structs, and differences between them.
      .replace(/((?:Invalid|Unsupported|Duplicate) value: )[{[].*?[}\]](?=: |$)/g, '$1STRUCT')
      .replace(/\n(@@.*)?$/s, '')
  );
}
