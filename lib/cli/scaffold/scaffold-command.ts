import { Command } from 'commander';
import { outputOption } from '../options.js';
import type { Output } from '../options.js';

/** Options of every scaffolding command. */
export interface ScaffoldOptions {
  /** Folder of the project. */
  readonly directory: string;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly output: Output;
  /** Whether to ask for missing options. @defaultValue true */
  readonly input?: boolean | undefined;
}

/** Returns a scaffolding command. */
export function scaffoldCommand(name: string): Command {
  return new Command(name)
    .option('-C, --directory <folder>', "the project's folder", '.')
    .option('--dry-run', 'say what would be done to which file, and write nothing', false)
    .option('--force', 'overwrite files that are there', false)
    .option('--no-input', 'at a terminal, do not ask for what is missing (also: CI=1)')
    .addOption(outputOption());
}

/** The styles of a controller. */
export const styles = ['builder', 'resources', 'lifecycle'] as const;

/** One of {@link styles}. */
export type Style = (typeof styles)[number];

/** Test runners of a project. */
export const testRunners = ['node', 'vitest'] as const;

/** One of {@link testRunners}: `node:test`, or Vitest. */
export type TestRunner = (typeof testRunners)[number];
