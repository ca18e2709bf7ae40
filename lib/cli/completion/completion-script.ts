import type { Command } from 'commander';
import { bashScript } from './bash-script.js';
import { shapesOf } from './command-shape.js';
import { fishScript } from './fish-script.js';
import { zshScript } from './zsh-script.js';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Returns the completion script of a shell. */
export function completionScript(shell: keyof typeof scripts, program: Command): string {
  return scripts[shell](program.name(), shapesOf(program));
}
