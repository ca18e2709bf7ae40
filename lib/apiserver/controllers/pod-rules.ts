import type { Pod } from '../../object/index.js';
import { refuseUnknownOptions, OperatorError } from '../../system/index.js';

/**
 * The behavior of a simulated pod.
 *
 * - `ready`: it runs and becomes ready (the default, except for pods of Jobs).
 * - `neverReady`: it runs, but its readiness probe never succeeds.
 * - `crashLoop`: its containers end with exit code 1 and restart, after increasing delays.
 * - `imagePullError`: it stays `Pending` with `ErrImagePull`, then `ImagePullBackOff`.
 * - `succeed`, `fail`: it runs and ends with exit code 0 or 1 (`succeed` is the default for pods of Jobs).
 *   With `fail` and a `restartPolicy` other than `Never`, it restarts as with `crashLoop`.
 */
export type PodBehavior =
  'ready' | 'neverReady' | 'crashLoop' | 'imagePullError' | 'succeed' | 'fail';

export const podBehaviors: readonly PodBehavior[] = [
  'ready',
  'neverReady',
  'crashLoop',
  'imagePullError',
  'succeed',
  'fail',
];

/** Selects pods; an undefined field matches every pod. */
export interface PodMatch {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Labels that the pod must have. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The answer to a command that a client runs in a container, as `kubectl exec` does. */
export interface CommandAnswer {
  /** The first words of the command. `[]` answers every command. */
  readonly command: readonly string[];
  /** The container in which the command runs. @defaultValue every container */
  readonly container?: string | undefined;
  /** The standard output of the command. @defaultValue nothing */
  readonly stdout?: string | undefined;
  /** The standard error of the command. @defaultValue nothing */
  readonly stderr?: string | undefined;
  /**
   * The exit code, from 0 to 255.
   * @defaultValue 0
   */
  readonly exitCode?: number | undefined;
  /**
   * Answers only after the client has ended the standard input, and records the input. More than 1 MiB is an error.
   * Clients can end the input with the protocol `v5.channel.k8s.io`, which kubectl supports. @defaultValue false
   */
  readonly readsInput?: boolean | undefined;
}

/** A command that a client ran in a container. */
export interface RunCommand {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly command: readonly string[];
  /** The standard input, if the answer reads it. */
  readonly input?: string | undefined;
}

/**
 * The behavior of the pods that `match` selects, and the answers to commands in them. At least one of the two is given.
 */
export interface PodRule {
  /** The pods that the rule applies to. @defaultValue every pod */
  readonly match?: PodMatch | undefined;
  /**
   * The behavior of the selected pods.
   * @defaultValue an earlier rule decides, or else the annotations or the image of the pod
   */
  readonly behavior?: PodBehavior | undefined;
  /** Answers to commands; the first whose command and container match is sent. @defaultValue earlier rules answer */
  readonly exec?: readonly CommandAnswer[] | undefined;
}

/** The command that a client requests. */
type AskedCommand = Pick<RunCommand, 'container' | 'command'>;

/** An active {@link PodRule}. */
export interface ActivePodRule {
  readonly rule: PodRule;
  /** Deactivates the rule. */
  remove(): void;
}

/** The number of commands that {@link PodRules.commands} keeps. */
const keptCommands = 1_000;

/**
 * Rules for the behavior of simulated pods, which can change while pods run: a pod whose behavior changes
 * starts again. The last matching rule decides, before `PodOptions.behavior`, annotations and images.
 */
export class PodRules {
  readonly #rules = new Set<ActivePodRule>();
  readonly #commands: RunCommand[] = [];
  #onChange: () => void = () => undefined;

  /**
   * Activates a rule.
   * @throws OperatorError `InvalidOption`: the behavior or a field is unknown.
   */
  add(rule: PodRule): ActivePodRule {
    checkPodRule(rule);
    const remove = (): void => {
      if (this.#rules.delete(active)) this.#onChange();
    };
    const active: ActivePodRule = { rule, remove };
    this.#rules.add(active);
    this.#onChange();
    return active;
  }

  /** The active rules, in the order in which they were added. */
  get active(): readonly ActivePodRule[] {
    return [...this.#rules];
  }

  /** The last 1,000 commands that clients ran in pods and that a rule answered, in order. */
  get commands(): readonly RunCommand[] {
    return [...this.#commands];
  }

  /** Deactivates all rules, and discards the recorded commands. */
  clear(): void {
    this.#rules.clear();
    this.#commands.length = 0;
    this.#onChange();
  }

  /** Returns the behavior that the rules give `pod`; undefined if none matches. */
  behaviorOf(pod: Pod): PodBehavior | undefined {
    const deciding = this.#matching(pod).findLast(({ behavior }) => behavior !== undefined);
    return deciding?.behavior;
  }

  /** Returns the answer to a command in `pod`. @returns undefined if no rule answers commands in this pod @internal */
  answerTo(pod: Pod, { container, command }: AskedCommand): CommandAnswer | undefined {
    const answers = this.#matching(pod)
      .reverse()
      .flatMap(({ exec = [] }) => exec);
    if (answers.length === 0) return undefined;
    const answer = answers.find(
      (each) =>
        (each.container ?? container) === container &&
        each.command.every((word, at) => word === command[at]),
    );
    // Like a shell, answer an unknown command with the exit code 127 and a message.
    const stderr = `${command[0] ?? ''}: command not found: no pod rule answers it\n`;
    return answer ?? { command, stderr, exitCode: 127 };
  }

  /** Records a command in {@link PodRules.commands}. @internal */
  ran(command: RunCommand): void {
    this.#commands.push(command);
    if (this.#commands.length > keptCommands) this.#commands.shift();
  }

  #matching(pod: Pod): PodRule[] {
    return this.active.flatMap(({ rule }) => (matchesPod(rule.match, pod) ? [rule] : []));
  }

  /** Calls `listener` after each change of the rules, in place of an earlier listener. @internal */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }
}

/** Returns true if `match` selects the pod. */
export function matchesPod(
  { namespace, name, labels = {} }: PodMatch = {},
  { metadata }: Pod,
): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  if (name !== undefined && metadata.name !== name) return false;
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

function checkPodRule(rule: PodRule): void {
  refuseUnknownOptions<PodRule>('pod rule', rule, { match: true, behavior: true, exec: true });
  const { match, behavior, exec } = rule;
  checkPodMatch('pod rule', match);
  if (exec !== undefined) checkAnswers(exec);
  const known = podBehaviors.includes(behavior as PodBehavior);
  if (known || (behavior === undefined && exec !== undefined)) return;
  const got = JSON.stringify(behavior);
  throw invalid(`want behavior to be one of ${podBehaviors.join(', ')}, got ${got}`);
}

function checkAnswers(answers: readonly CommandAnswer[]): void {
  if (!Array.isArray(answers)) throw invalid('want exec to be a list of answers');
  for (const answer of answers as readonly CommandAnswer[]) {
    refuseUnknownOptions<CommandAnswer>('pod rule: exec', answer, {
      ...{ command: true, container: true, stdout: true, stderr: true },
      ...{ exitCode: true, readsInput: true },
    });
    const { command, container = '', stdout = '', stderr = '', exitCode = 0 } = answer;
    const words: readonly unknown[] | undefined = Array.isArray(command) ? command : undefined;
    const texts = [...(words ?? [undefined]), container, stdout, stderr];
    if (!texts.every((text) => typeof text === 'string')) {
      throw invalid('want command to be a list of strings, and container, stdout, stderr strings');
    }
    if (!(Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255)) {
      throw invalid(`want exitCode to be 0 to 255, got ${JSON.stringify(exitCode)}`);
    }
  }
}

function invalid(problem: string): OperatorError {
  return new OperatorError('InvalidOption', `pod rule: ${problem}`);
}

/** @throws OperatorError `InvalidOption`: a field is unknown or not a string. */
export function checkPodMatch(subject: string, match: PodMatch = {}): void {
  refuseUnknownOptions<PodMatch>(`${subject}: match`, match, {
    ...{ namespace: true, name: true, labels: true },
  });
  const { namespace = '', name = '', labels = {} } = match;
  const texts: readonly unknown[] = [namespace, name, ...Object.values(labels)];
  if (texts.every((text) => typeof text === 'string')) return;
  const got = JSON.stringify(match);
  const message = `${subject}: want match to have a namespace, name and labels of strings, got ${got}`;
  throw new OperatorError('InvalidOption', message);
}
