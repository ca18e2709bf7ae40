import { OperatorError } from '../../system/operator-error.js';
import { insertionsOf } from './insertions.js';
import type { Insertion } from './insertions.js';
import type { WantedFile } from './plan-files.js';
import type { Project, ProjectResource, ProjectWebhooks } from './project-file.js';
import { readTemplate } from './template.js';
import type { TemplateFile } from './template.js';
import { webhookValues } from './webhook-values.js';
import type { WebhookSubject } from './webhook-values.js';

const marker = '// +operator-builder:scaffold:spokes';

/** The stored version of a kind and another version. */
interface Pair {
  readonly project: Project;
  readonly first: ProjectResource;
  readonly spoke: ProjectResource;
}

/** Returns the conversion between all versions of a kind, in the file of the stored version. */
export async function spokesOf({ project, first, others }: WebhookSubject): Promise<WantedFile> {
  const [nearest = first, ...more] = others;
  const pair = { project, first, spoke: nearest };
  const { path, text } = await apiOf(pair, { conversion: true });
  const insertions = insertionsOf((await apiOf(pair, {})).text, text);
  const further: string[] = [];
  for (const spoke of more) {
    further.push(...(await spokeInsertion({ project, first, spoke })).lines);
  }
  const all = insertions.map((insertion): Insertion => {
    const place = insertion.lines.findIndex((line) => line.trim() === marker);
    return { ...insertion, lines: insertion.lines.toSpliced(place, 0, ...further) };
  });
  return { type: 'insert', path, insertions: all };
}

/** Returns the insertion for one more version of a kind that has a conversion. */
export async function spokeInsertion(pair: Pair): Promise<Insertion> {
  const { text } = await apiOf(pair, { conversion: true });
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.trim() === 'spokes: {') + 1;
  const end = lines.findIndex((line) => line.trim() === marker);
  const [indentation = ''] = /^ */.exec(lines[end] ?? '') ?? [];
  return { marker, lines: lines.slice(start, end), indentation };
}

/** Returns the file of the stored version for a kind with two versions. */
async function apiOf(
  { project, first, spoke }: Pair,
  webhooks: ProjectWebhooks,
): Promise<TemplateFile> {
  const subject = { project, resource: first, first, others: [spoke] };
  const files = await readTemplate('webhook', webhookValues(subject, webhooks));
  const file = files.find(({ path }) => path.startsWith(`src/api/${first.version}/`));
  if (file === undefined) throw new OperatorError('InvalidConfig', 'the template has no versions');
  return file;
}
