import type { RecordedAnswer } from './recording.js';

/** Stands for values that differ in each run. */
export interface Names {
  uid(uid: string): string;
  /** Stands for a version in the member `resourceVersion`, or in a message without a member. */
  version(version: string, member?: string): string;
  time(time: string): string;
  /** Stands for the token of a list's next page. */
  token(token: string): string;
  /**
   * Whether to compare whole descriptions, hashes of storage versions, the order of resources, texts in objects that
   * look like an age, and addresses and ports of Services that a request chose. The recordings do not contain them.
   */
  readonly isWhole: boolean;
}

/** One name for all uids, one for all versions, and so on. */
export const constantNames: Names = {
  uid: () => 'UID',
  version: (_, member) => member ?? 'VERSION',
  time: () => 'TIME',
  token: () => 'continue',
  isWhole: false,
};

const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const uids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const versions =
  /(ResourceVersion in object meta: |ResourceVersion in the precondition \(|\\"resourceVersion\\":\\"|^ *resourceVersion: ")(\d+)/gm;
/** Addresses of the server in an answer in YAML. */
const addresses = /^(- clientCIDR: .*\n {2}serverAddress: ).*$/gm;
/** Versions of the whole store, which other topics write to, too. */
const storeVersions = /(record \(|current: |too old resource version: (?:\d+ \()?)\d+/g;

/**
 * Returns an answer without what differs between two runs: `names` replaces uids, times and versions, and what depends
 * on the order of Go's maps is left out.
 */
export function comparable(
  { code, warning, body }: RecordedAnswer,
  names: Names = constantNames,
): RecordedAnswer {
  const normal = new Normal(names);
  const said = warning === undefined ? {} : { warning: normal.text(warning) };
  return { code, ...said, body: normal.value(body, '') };
}

class Normal {
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  value(given: unknown, name: string): unknown {
    if (typeof given === 'string') return this.#member(given, name);
    if (Array.isArray(given)) {
      const items = given.map((item: unknown) => this.value(item, name === 'cells' ? 'cell' : ''));
      const isSet = sets.has(name) || (name === 'resources' && !this.#names.isWhole);
      return isSet ? items.sort(byText) : items;
    }
    if (this.#isAllocated(given, name)) return 'PORT';
    if (typeof given !== 'object' || given === null) return given;
    // The members are sorted first, because names may depend on the order in which values occur.
    const members = Object.entries(status(given as Members)).sort(([one], [other]) =>
      one < other ? -1 : 1,
    );
    return Object.fromEntries(
      members.map(([member, inner]) => [this.text(member), this.value(inner, member)]),
    );
  }

  /** Returns whether the server allocated the port. It keeps node ports below 30086 for requests that name a port. */
  #isAllocated(given: unknown, name: string): boolean {
    if (typeof given !== 'number') return false;
    if (!this.#names.isWhole) return name === 'nodePort' && given >= 30_000;
    const isPort = name === 'nodePort' || name === 'healthCheckNodePort';
    return isPort && given >= 30_086 && given <= 32_767;
  }

  #member(given: string, name: string): string {
    if (name === 'serverAddress') return name;
    if (name === 'resourceVersion') return this.#names.version(given, name);
    if (name === 'continue') return this.#names.token(given);
    if (this.#names.isWhole) return name === 'cell' ? ages(this.text(given)) : this.text(given);
    // The hash depends on the API group, which differs in each run.
    if (name === 'storageVersionHash') return name;
    return name === 'description' ? given.slice(0, 20) : ages(this.text(given));
  }

  text(given: string): string {
    return (
      given
        .replace(uids, (uid) => this.#names.uid(uid))
        .replace(times, (time) => this.#names.time(time))
        .replace(
          versions,
          (_, before: string, version: string) => before + this.#names.version(version),
        )
        .replace(storeVersions, '$1VERSION')
        .replace(addresses, '$1ADDRESS')
        .replace(this.#names.isWhole ? drawnIp : serviceIp, 'ADDRESS')
        // Replaces Go structs, except rules, and drops the differences between structs.
        .replace(this.#names.isWhole ? structs : structsAndLists, '$1STRUCT')
        .replace(/\n(@@.*)?$/s, '')
    );
  }
}

const serviceIp = /^10\.96\.\d+\.\d+$/;
/** An address that the server allocated. It keeps the lowest addresses for requests that name an address. */
const drawnIp = /^10\.96\.(?!0\.)\d+\.\d+$/;

const structs =
  /((?:Invalid|Unsupported|Duplicate) value: )(?!\{"Rule")(?:\{.*?\}|\[\{.*?\])(?=: |$)/g;
const structsAndLists = /((?:Invalid|Unsupported|Duplicate) value: )[{[].*?[}\]](?=: |$)/g;

function ages(text: string): string {
  return text.replace(/^(\d+[smhdy])+$/, 'AGE').replace(/\((\d+[smhdy])+ ago\)$/, '(AGE ago)');
}

/** Lists without a significant order. */
const sets: ReadonlySet<string> = new Set([
  'causes',
  'managedFields',
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
