import picocolors from 'picocolors';
import type { RenderPlanOptions } from '../builder/index.js';
import { planSummary, renderObjects } from '../builder/index.js';
import { describeObject } from '../object/index.js';
import type { ObjectReference } from '../object/index.js';
import type { PlanStep, ResourcePlan } from './plan-resource.js';

/** Returns a plan for people, step by step, with a final line break. */
export function renderSteps(
  plan: ResourcePlan,
  { color = false, unchanged = false }: RenderPlanOptions,
): string {
  const { bold } = picocolors.createColors(color);
  const [first, ...others] = plan.steps;
  const later = others.flatMap((step) => [
    bold(titleOf(step)),
    ...renderObjects(step, { color, unchanged }),
  ]);
  const goesOn = plan.settled || plan.error !== undefined ? [] : [notSettled];
  const { paused, waits } = plan;
  const lines = [
    bold(`Plan for ${describeObject(plan.owner)}`),
    ...(paused === undefined
      ? []
      : [`It is paused (${paused}): the operator changes nothing else.`]),
    ...(first === undefined ? [] : renderObjects(first, { color, unchanged })),
    ...later,
    ...(waits === undefined ? [] : [`The plan ends at a wait: ${waits}`]),
    planSummary(plan),
    ...goesOn,
  ];
  return `${lines.join('\n')}\n`;
}

const notSettled = 'The operator did not settle within the limits of the plan.';

function titleOf({ after }: PlanStep): string {
  return `then, once ${after.map(condition).join(', and ')}:`;
}

function condition(ref: ObjectReference): string {
  const name = describeObject(ref);
  switch (ref.kind) {
    case 'Job':
      return `${name} is complete`;
    case 'PersistentVolumeClaim':
      return `${name} is bound`;
    case 'Pod':
      return `${name} is ready`;
    default:
      return `${name} is rolled out`;
  }
}
