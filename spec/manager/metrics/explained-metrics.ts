import { readFile } from 'node:fs/promises';
import type { ScrapedMetric } from './scraped-manager.js';

const page = new URL('../../../docs/metrics.md', import.meta.url);

/** Returns the rows of the tables in docs/metrics.md: name, type, labels. */
export async function explainedMetrics(): Promise<ReadonlyMap<string, ScrapedMetric>> {
  const text = await readFile(page, 'utf8');
  const rows = text.matchAll(/^\| `(\w+)` +\| (\w+) +\| ([^|]*?) *\|/gm);
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '']) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label) },
    ]),
  );
}
