import { readFileSync } from 'node:fs';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import type { Scenario, Step } from './scenario.js';

/**
 * A {@link Step} with the answer of a real server; times are the `stepTime` of the step that set
 * them.
 */
export interface RecordedStep extends Step {
  /** The object before the step, if it differs from the one after the previous step. */
  readonly before?: UnstructuredObject;
  /** The object after the step, or `'same'` if its `resourceVersion` did not change. */
  readonly after?: UnstructuredObject | 'same';
  readonly error?: RecordedError;
}

/** The relevant parts of a `Status`. */
export interface RecordedError {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly causes?: readonly unknown[];
}

/** A {@link Scenario} with the answers of a real server. */
export interface Recording extends Omit<Scenario, 'steps'> {
  readonly steps: readonly RecordedStep[];
}

/** Reads the recordings of a table of scenarios. */
export function recordings(name: string): Recording[] {
  const url = new URL(`recorded/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Recording[];
}

/** Returns the location of a recording. */
export function recordingUrl(name: string): URL {
  return new URL(`recorded/${name}.json`, import.meta.url);
}

/** Returns the time of the step at `index` in milliseconds, one per minute. */
export function stepTime(index: number): number {
  return Date.UTC(2026, 0, 1, 0, index);
}
