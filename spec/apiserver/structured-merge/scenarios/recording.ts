import { readFileSync } from 'node:fs';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import type { Scenario, Step } from './scenario.js';

/** What a real server answered to a {@link Step}; times are `stepTime` of the step that made them. */
export interface RecordedStep extends Step {
  /** The object before, where it is not the one after the step before. */
  readonly before?: UnstructuredObject;
  /** The object after, or `'same'`: the `resourceVersion` did not change. */
  readonly after?: UnstructuredObject | 'same';
  readonly error?: RecordedError;
}

/** The parts of a `Status` that matter. */
export interface RecordedError {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly causes?: readonly unknown[];
}

/** A {@link Scenario} with a real server's answers. */
export interface Recording extends Omit<Scenario, 'steps'> {
  readonly steps: readonly RecordedStep[];
}

/** The recordings of one table of scenarios. */
export function recordings(name: string): Recording[] {
  const url = new URL(`recorded/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Recording[];
}

/** Where recordings are written to. */
export function recordingUrl(name: string): URL {
  return new URL(`recorded/${name}.json`, import.meta.url);
}

/** The clock of the step at `index`, in milliseconds: one a minute. */
export function stepTime(index: number): number {
  return Date.UTC(2026, 0, 1, 0, index);
}
