import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../crd/cel/times.js';
import { dns1123LabelProblem } from '../../object/names.js';

/** Parses a port. */
export function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('Want a port, 0 to 65535.');
}

/** Parses a number of days, at least one. */
export function daysOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Want a number of days, at least 1.');
}

/** Parses a duration in Go's format; returns milliseconds. */
export function durationMsOf(text: string): number {
  const duration = parseDuration(text);
  if (duration !== undefined && duration.nanos > 0n) return Number(duration.nanos) / 1e6;
  throw new InvalidArgumentError('Want a duration above 0, for example 90m or 24h.');
}

/** Collects comma-separated names of an option that can be repeated. */
export function namesOf(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) {
    throw new InvalidArgumentError('Want names, separated by commas.');
  }
  return [...before, ...names];
}

/** Collects namespaces as {@link namesOf} does; `*` means all namespaces. */
export function namespacesOf(text: string, before?: readonly string[]): readonly string[] {
  const names = namesOf(text, before);
  for (const name of names) {
    const problem = name === '*' ? undefined : dns1123LabelProblem(name);
    if (problem === undefined) continue;
    throw new InvalidArgumentError(`The namespace ${problem}.`);
  }
  return names;
}
