import type { CommandShape } from './command-shape.js';

/** Returns a command's key in the scripts: its words, each after a space. */
export function pathOf({ words }: CommandShape): string {
  return words.map((word) => ` ${word}`).join('');
}

/** Quotes a text as one word of bash or zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
