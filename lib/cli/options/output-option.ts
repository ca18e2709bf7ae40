import { Option } from 'commander';

const outputs = ['text', 'json'] as const;

/** Formats of a command's result. */
export type Output = (typeof outputs)[number];

/** Returns the option `--output`: text for people or JSON for programs. */
export function outputOption(): Option {
  return new Option('--output <format>', 'how to say what was done: for people, or for a program')
    .choices(outputs)
    .default('text');
}
