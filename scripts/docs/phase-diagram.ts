import { readFile, writeFile } from 'node:fs/promises';
import type { Phase } from '../../lib/lifecycle/index.js';
import type { Transition } from '../../lib/lifecycle/reconciler/phases.js';

const page = 'docs/lifecycle.md';

/** Returns the transitions between phases as a Mermaid diagram. */
export function phaseDiagram(transitions: readonly Transition[]): string {
  const arrows = transitions.flatMap(({ from, on, to }) =>
    from.map((phase) => `  ${stateOf(phase)} --> ${stateOf(to)}: ${on}`),
  );
  return [
    'stateDiagram-v2',
    '  state "no phase" as None',
    '  [*] --> None',
    ...arrows,
    '  Deleted --> [*]',
  ].join('\n');
}

/** Returns the diagram in the committed page. */
export async function diagramOfPage(): Promise<string> {
  return (await partsOfPage()).diagram;
}

/** Redraws the diagram of the page. */
export async function drawDiagramOfPage(transitions: readonly Transition[]): Promise<void> {
  const { before, after } = await partsOfPage();
  await writeFile(page, `${before}${phaseDiagram(transitions)}${after}`);
}

async function partsOfPage() {
  const text = await readFile(page, 'utf8');
  const [, before, diagram, after] = /^(.*?^```mermaid\n)(.*?)(\n```$.*)$/ms.exec(text) ?? [];
  if (before === undefined || diagram === undefined || after === undefined) {
    throw new Error(`${page} has no diagram`);
  }
  return { before, diagram, after };
}

function stateOf(phase: Phase): string {
  return phase === '' ? 'None' : phase;
}
