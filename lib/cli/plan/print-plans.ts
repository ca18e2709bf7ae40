import { readableMessage, usesColors } from '../../feed/index.js';
import { describeObject } from '../../object/index.js';
import type { ResourcePlan } from '../../plan/index.js';
import { OperatorError, isOperatorError } from '../../system/index.js';
import { exitCodes } from '../command-context.js';
import type { CommandContext } from '../command-context.js';

export const planOutputs = ['text', 'json', 'yaml', 'diff'] as const;

export interface PrintingOptions {
  readonly unchanged?: boolean | undefined;
  readonly color: boolean;
  readonly output: (typeof planOutputs)[number];
}

/**
 * Prints plans and sets the exit code.
 * @throws an error that names each resource whose reconcile failed, after all plans are printed
 */
export async function printPlans(
  plans: readonly ResourcePlan[],
  { output, color, unchanged = false }: PrintingOptions,
  context: CommandContext,
): Promise<void> {
  const { stdout } = context;
  const rendering = { color: color && usesColors(context, stdout), unchanged };
  if (output === 'json') {
    const { planJson } = await import('../../plan/index.js');
    stdout.write(`${JSON.stringify({ plans: plans.map(planJson) }, undefined, 2)}\n`);
  } else if (output === 'text') {
    const { renderSteps } = await import('../../plan/index.js');
    stdout.write(plans.map((each) => renderSteps(each, rendering)).join('\n'));
  } else {
    const { renderDiff, renderYaml } = await import('./render-plan.js');
    stdout.write((output === 'yaml' ? renderYaml : renderDiff)(plans, rendering));
  }
  if (plans.some(({ changed }) => changed)) context.setExitCode(exitCodes.changes);
  throwFailures(plans);
}

function throwFailures(plans: readonly ResourcePlan[]): void {
  const failed = plans.flatMap(({ owner, error }) =>
    error === undefined ? [] : [{ owner, error }],
  );
  const lines = failed.map(({ owner, error }) => {
    const [name, message] = [describeObject(owner), readableMessage(error)];
    const isNamed = message.startsWith(`${name}:`) || message.startsWith(`${name} `);
    return isNamed ? message : `${name}: ${message}`;
  });
  // The program writes `error: ` before the first line.
  const message = lines.join('\nerror: ');
  // An error of another package: its stack may help.
  const { error: cause } = failed.find(({ error }) => !isOperatorError(error)) ?? failed[0] ?? {};
  if (cause === undefined) return;
  if (isOperatorError(cause)) throw new OperatorError(cause.code, message, { cause });
  throw new Error(message, { cause });
}
