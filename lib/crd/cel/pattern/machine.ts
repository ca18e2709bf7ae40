import { isWord } from './character-sets.js';
import type { Assertion, CharacterTest, PatternNode, RepeatNode } from './node.js';

type Instruction =
  | { readonly op: 'character'; readonly test: CharacterTest }
  | { readonly op: 'assertion'; readonly assertion: Assertion }
  /** The next instructions, in order of preference. */
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'jump'; readonly to: number }
  | { readonly op: 'match' };

/** The position of a match, in code points. */
export interface Found {
  readonly start: number;
  readonly end: number;
}

/**
 * Runs all alternatives of a pattern in parallel, like Go: the time is proportional to the text's length
 * times the pattern's. JavaScript's backtracking takes exponential time for nested repetitions.
 */
export class PatternMachine {
  readonly #program: readonly Instruction[];

  constructor(pattern: PatternNode) {
    const program: Instruction[] = [];
    emit(pattern, program);
    program.push({ op: 'match' });
    this.#program = program;
  }

  /**
   * Finds the first match, and there the preferred one.
   * @param anywhere - stops once a match is certain; `end` is then arbitrary
   */
  find(text: readonly number[], from = 0, anywhere = false): Found | undefined {
    let threads = new Threads(this.#program.length);
    let next = new Threads(this.#program.length);
    let found: Found | undefined;
    for (let at = from; at <= text.length; at++) {
      if (found === undefined) this.#follow(threads, { pc: 0, start: at }, text, at);
      if (threads.list.length === 0 && found !== undefined) break;
      for (const thread of threads.list) {
        const instruction = this.#program[thread.pc];
        if (instruction?.op === 'match') {
          found = { start: thread.start, end: at };
          if (anywhere) return found;
          // All later threads are less preferred.
          break;
        }
        const point = text[at];
        if (point === undefined || instruction?.op !== 'character') continue;
        if (instruction.test(point)) {
          this.#follow(next, { pc: thread.pc + 1, start: thread.start }, text, at + 1);
        }
      }
      [threads, next] = [next, threads];
      next.clear();
    }
    return found;
  }

  /** Adds the threads that are reachable without consuming a character. */
  #follow(threads: Threads, thread: Thread, text: readonly number[], at: number): void {
    const stack = [thread.pc];
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (!threads.enter(pc)) continue;
      const instruction = this.#program[pc];
      if (instruction === undefined) continue;
      if (instruction.op === 'jump') stack.push(instruction.to);
      else if (instruction.op === 'split') stack.push(instruction.second, instruction.first);
      else if (instruction.op === 'assertion') {
        if (holds(instruction.assertion, text, at)) stack.push(pc + 1);
      } else threads.list.push({ pc, start: thread.start });
    }
  }
}

interface Thread {
  readonly pc: number;
  readonly start: number;
}

/** Holds each instruction at most once: the first thread to reach it is the preferred one. */
class Threads {
  readonly list: Thread[] = [];
  readonly #entered: Uint32Array;
  #round = 1;

  constructor(size: number) {
    this.#entered = new Uint32Array(size);
  }

  enter(pc: number): boolean {
    if (this.#entered[pc] === this.#round) return false;
    this.#entered[pc] = this.#round;
    return true;
  }

  clear(): void {
    this.list.length = 0;
    this.#round++;
  }
}

function holds(assertion: Assertion, text: readonly number[], at: number): boolean {
  const [before, after] = [text[at - 1], text[at]];
  switch (assertion) {
    case 'begin':
      return at === 0;
    case 'end':
      return at === text.length;
    case 'lineBegin':
      return at === 0 || before === newline;
    case 'lineEnd':
      return at === text.length || after === newline;
    case 'boundary':
    case 'noBoundary': {
      const differ = isWordAt(before) !== isWordAt(after);
      return differ === (assertion === 'boundary');
    }
  }
}

const newline = 0x0a;

function isWordAt(point: number | undefined): boolean {
  return point !== undefined && isWord(point);
}

function emit(node: PatternNode, program: Instruction[]): void {
  switch (node.type) {
    case 'character':
      program.push({ op: 'character', test: node.test });
      return;
    case 'assertion':
      program.push({ op: 'assertion', assertion: node.assertion });
      return;
    case 'sequence':
      for (const part of node.parts) emit(part, program);
      return;
    case 'choice':
      emitChoice(node.parts, program);
      return;
    case 'repeat':
      emitRepeat(node, program);
  }
}

function emitChoice(parts: readonly PatternNode[], program: Instruction[]): void {
  const ends: number[] = [];
  for (const [index, part] of parts.entries()) {
    const at = program.length;
    const isLast = index === parts.length - 1;
    if (!isLast) program.push({ op: 'match' });
    emit(part, program);
    if (isLast) break;
    ends.push(program.length);
    program.push({ op: 'match' });
    program[at] = { op: 'split', first: at + 1, second: program.length };
  }
  for (const end of ends) program[end] = { op: 'jump', to: program.length };
}

function emitRepeat({ part, min, max, greedy }: RepeatNode, program: Instruction[]): void {
  for (let count = 0; count < min; count++) emit(part, program);
  const splits: number[] = [];
  for (let count = min; count < (max ?? min + 1); count++) {
    splits.push(program.length);
    program.push({ op: 'match' });
    emit(part, program);
  }
  const [loop] = splits;
  if (max === undefined && loop !== undefined) program.push({ op: 'jump', to: loop });
  const end = program.length;
  for (const at of splits) {
    const [first, second] = greedy ? [at + 1, end] : [end, at + 1];
    program[at] = { op: 'split', first, second };
  }
}
