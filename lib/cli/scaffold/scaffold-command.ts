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

export function scaffoldCommand(name: string): Command {
  return new Command(name)
    .option('-C, --directory <folder>', 'folder of the project', '.')
    .option('--dry-run', 'write nothing; list the files that would change', false)
    .option('--force', 'overwrite existing files', false)
    .option('--no-input', 'do not ask for missing options at a terminal (also: CI=1)')
    .addOption(outputOption());
}

export const styles = ['builder', 'reconciles', 'resources', 'lifecycle'] as const;

export type Style = (typeof styles)[number];

export const testRunners = ['node', 'vitest'] as const;

/** One of {@link testRunners}: `node:test`, or Vitest. */
export type TestRunner = (typeof testRunners)[number];
