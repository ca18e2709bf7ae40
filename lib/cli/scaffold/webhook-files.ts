import { join } from 'node:path';
import { initFiles } from './init-project.js';
import { insertionsOf } from './insertions.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import type { ProjectWebhooks } from './project-file.js';
import { spokesOf } from './spokes.js';
import { readTemplate } from './template.js';
import type { TemplateFile } from './template.js';
import { webhookConfig } from './webhook-config.js';
import { isAdmission, webhookValues } from './webhook-values.js';
import type { WebhookSubject } from './webhook-values.js';

/** Webhooks that are to be added. */
export interface WebhookScaffold extends WebhookSubject {
  readonly wanted: ProjectWebhooks;
  /** The project's folder, absolute. */
  readonly folder: string;
  readonly force: boolean;
}

const apiFile = /^src\/api\//;
const admissionFile = /^(?:src\/webhooks\/|test\/.*-webhook\.test\.ts$)/;
const conversionFile = /^test\/.*-conversion\.test\.ts$/;

/** What webhooks add to a project. */
export async function webhookFiles(scaffold: WebhookScaffold): Promise<readonly WantedFile[]> {
  const { project, resource, wanted } = scaffold;
  const filled = async (webhooks: ProjectWebhooks): Promise<ReadonlyMap<string, string>> =>
    textsOf(await readTemplate('webhook', webhookValues(scaffold, webhooks)));
  const templates = {
    init: textsOf(await initFiles(project)),
    // With nothing between its markers.
    bare: await filled({}),
    whole: await filled({ ...resource.webhooks, ...wanted }),
  };
  const files: WantedFile[] = [];
  for (const [path, text] of await filled(wanted)) {
    if (isWanted(path, wanted))
      files.push(...(await wantedOf({ path, text }, templates, scaffold)));
  }
  if (wanted.conversion === true) files.push(await spokesOf(scaffold));
  return [...files, ...(await webhookConfig(scaffold))];
}

/** Texts by paths. */
type Texts = ReadonlyMap<string, string>;

function textsOf(files: readonly TemplateFile[]): Texts {
  return new Map(files.map(({ path, text }) => [path, text]));
}

function isWanted(path: string, wanted: ProjectWebhooks): boolean {
  if (admissionFile.test(path)) return isAdmission(wanted);
  if (conversionFile.test(path)) return wanted.conversion === true;
  return !apiFile.test(path);
}

async function wantedOf(
  { path, text }: TemplateFile,
  { init, bare, whole }: Readonly<Record<'init' | 'bare' | 'whole', Texts>>,
  { folder, force }: WebhookScaffold,
): Promise<readonly WantedFile[]> {
  const insertionsTo = (before: string): readonly WantedFile[] => {
    const insertions = insertionsOf(before, text);
    return insertions.length === 0 ? [] : [{ type: 'insert', path, insertions }];
  };
  const before = init.get(path);
  if (before !== undefined) return insertionsTo(before);
  const isCode = admissionFile.test(path) || conversionFile.test(path);
  const isThere = (await textIfExists(join(folder, path))) !== undefined;
  const isAnew = !isThere || force || conversionFile.test(path);
  if (isAnew) return [{ type: 'whole', path, text: whole.get(path) ?? text }];
  // Of another webhook: what of it is the same for all is the user's by now.
  return isCode || text.includes('+operator-builder:scaffold:')
    ? insertionsTo(bare.get(path) ?? '')
    : [];
}
