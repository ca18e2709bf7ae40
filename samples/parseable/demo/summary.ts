import type { Narrator } from './narrator.js';
import type { StorySummary } from './story.js';

/** Ends the story with its numbers. */
export function tellSummary(narrator: Narrator, summary: StorySummary, tookMs: number): void {
  const { tally, replaced, events } = summary;
  const pods = [...replaced.values()].reduce((sum, count) => sum + count, 0);
  narrator.title('Summary', `in ${(tookMs / 1000).toFixed(1)} s`);
  narrator.line('created', `${tally.created.length} objects created`, tally.created.join(', '));
  narrator.line('rolled', `${pods} pods rolled`, nodesOf(replaced));
  for (const { workload, cause } of tally.rolls) {
    narrator.line('noted', `  ${workload}`, `because of ${cause}`);
  }
  narrator.line('removed', `${tally.pruned.length} objects pruned`, tally.pruned.join(', '));
  narrator.line('noted', `${events} events written`);
}

function nodesOf(replaced: ReadonlyMap<string, number>): string {
  return [...replaced].map(([node, count]) => `${node}: ${count}`).join(', ');
}
