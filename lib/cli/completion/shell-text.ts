import type { CommandShape } from './command-shape.js';

/** How scripts know a command: its words, each after a space. */
export function pathOf({ words }: CommandShape): string {
  return words.map((word) => ` ${word}`).join('');
}

/** A text as one word of bash or zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
