import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { runProgram, settle } from '../program.js';
import type { Surroundings } from '../program.js';
import { creatorCommand } from './project.js';

/** Runs a command line of `create-operator-builder`. @returns the exit code */
export function runCreator(args: readonly string[], surroundings: Surroundings): Promise<number> {
  return runProgram(creatorProgram, args, surroundings);
}

function creatorProgram(context: CommandContext): Command {
  const command = creatorCommand(context);
  settle(command, context);
  return command;
}
