import { join } from 'node:path';
import { deepEqual } from '../../object/deep-equal.js';
import uniqWith from 'lodash/uniqWith.js';
import { foreignTest, ofBuiltIn, testDefinition } from './foreign-kind.js';
import { initFiles } from './init-project.js';
import { insertionsOf } from './insertions.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import { webhookWords, wholeGroup } from './project-file.js';
import type { ProjectResource, ProjectWebhooks } from './project-file.js';
import { definedNow, sampleContent, withContentOfTest } from './sample-content.js';
import { spokesOf } from './spokes.js';
import { readTemplate } from './template.js';
import type { TemplateFile } from './template.js';
import { webhookConfig } from './webhook-config.js';
import { isAdmission, webhookValues } from './webhook-values.js';
import type { WebhookSubject } from './webhook-values.js';

/** Webhooks to add. */
export interface WebhookScaffold extends WebhookSubject {
  readonly wanted: ProjectWebhooks;
  /** Folder of the project, absolute. */
  readonly folder: string;
  readonly force: boolean;
}

const apiFile = /^src\/api\//;
const admissionFile = /^(?:src\/webhooks\/|test\/.*-webhook\.test\.ts$)/;
const conversionFile = /^test\/.*-conversion\.test\.ts$/;

/** Returns the files that webhooks add to a project. */
export async function webhookFiles(scaffold: WebhookScaffold): Promise<readonly WantedFile[]> {
  const { project, resource, wanted } = scaffold;
  const filled = async (webhooks: ProjectWebhooks): Promise<ReadonlyMap<string, string>> =>
    textsOf(await readTemplate('webhook', webhookValues(scaffold, webhooks)));
  const whole = await withSamples(scaffold, await filled({ ...resource.webhooks, ...wanted }));
  const templates: Templates = {
    init: textsOf(await initFiles(project)),
    bare: await filled({}),
    // One by one: the additions of one webhook may exist without the other's.
    single: await Promise.all(
      webhookWords.filter((word) => wanted[word]).map((word) => filled({ [word]: true })),
    ),
    whole,
  };
  const files: WantedFile[] = [];
  for (const path of whole.keys()) {
    if (isWanted(path, wanted)) files.push(...(await wantedOf(path, templates, scaffold)));
  }
  if (wanted.conversion === true) files.push(await spokesOf(scaffold));
  return [...files, ...(await webhookConfig(scaffold))];
}

/** Uses the samples of the versions for the objects in tests. */
async function withSamples(
  { project, resource, first, folder }: WebhookScaffold,
  texts: Texts,
): Promise<Texts> {
  if (resource.external === true) return foreignTexts(resource, folder, texts);
  const named = { group: wholeGroup(project, first), kind: first.kind };
  const crd = await definedNow(folder, named);
  const entries = [...texts].map(async ([path, text]) => {
    if (!path.startsWith('test/')) return [path, text] as const;
    const version = conversionFile.test(path) ? first : resource;
    const sample = await sampleContent(folder, version, crd);
    return [path, sample === undefined ? text : withContentOfTest(text, sample)] as const;
  });
  return new Map(await Promise.all(entries));
}

/** Returns the texts for a foreign kind, which has no sample. */
async function foreignTexts(
  resource: ProjectResource,
  folder: string,
  texts: Texts,
): Promise<Texts> {
  const definition = await testDefinition(folder, resource);
  const entries = [...texts].map(([path, text]) => {
    const whole = path.startsWith('test/') ? foreignTest(text, resource, definition) : text;
    return [path, ofBuiltIn(whole, resource)] as const;
  });
  return new Map(entries);
}

/** Texts by paths. */
type Texts = ReadonlyMap<string, string>;

/** Renderings of a template for different webhooks. */
interface Templates {
  /** Files of a new project. */
  readonly init: Texts;
  /** Files with empty regions above the markers. */
  readonly bare: Texts;
  /** Files with each new webhook alone. */
  readonly single: readonly Texts[];
  /** Files with all webhooks. */
  readonly whole: Texts;
}

function textsOf(files: readonly TemplateFile[]): Texts {
  return new Map(files.map(({ path, text }) => [path, text]));
}

function isWanted(path: string, wanted: ProjectWebhooks): boolean {
  if (admissionFile.test(path)) return isAdmission(wanted);
  if (conversionFile.test(path)) return wanted.conversion === true;
  return !apiFile.test(path);
}

async function wantedOf(
  path: string,
  { init, bare, single, whole }: Templates,
  { folder, force }: WebhookScaffold,
): Promise<readonly WantedFile[]> {
  const text = whole.get(path) ?? '';
  const insertionsTo = (before: string): readonly WantedFile[] => {
    const all = single.flatMap((texts) => insertionsOf(before, texts.get(path) ?? before));
    const insertions = uniqWith(all, deepEqual);
    return insertions.length === 0 ? [] : [{ type: 'insert', path, insertions }];
  };
  const before = init.get(path);
  if (before !== undefined) return insertionsTo(before);
  const isThere = (await textIfExists(join(folder, path))) !== undefined;
  if (!isThere || force || conversionFile.test(path)) return [{ type: 'whole', path, text }];
  // A file of another webhook: the common parts are the user's by now.
  return text.includes('+operator-builder:scaffold:') ? insertionsTo(bare.get(path) ?? '') : [];
}
