import { Option } from 'commander';

const outputs = ['text', 'json'] as const;

/** How a command says what it did. */
export type Output = (typeof outputs)[number];

/** `--output`: for people, or for a program. */
export function outputOption(): Option {
  return new Option('--output <format>', 'how to say what was done: for people, or for a program')
    .choices(outputs)
    .default('text');
}
