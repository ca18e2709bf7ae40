import { join, resolve } from 'node:path';
import type { OperatorDefinition, OperatorResource } from '../../manager/index.js';
import { unservedConversions } from '../../operator/index.js';
import { OperatorError } from '../../system/index.js';
import type { CommandContext } from '../command-context.js';
import { textDiff } from '../object-texts.js';
import type { Output } from '../options.js';
import { loadOperator } from '../load-operator.js';
import { done, planFiles, refuseStale, writeFiles } from '../scaffold/plan-files.js';
import type { PlannedFile, WantedFile } from '../scaffold/plan-files.js';
import { generatedFile, listedFiles, otherFiles } from './generated-file.js';
import type { FileList, WantedManifests } from './generated-file.js';
import { roleFiles } from './role-files.js';
import { webhookManifestFiles } from './webhook-manifests.js';

/** Options of commands that generate manifests. */
export interface GeneratingOptions {
  readonly check: boolean;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly output: Output;
}

export interface ManifestsOptions extends GeneratingOptions {
  /** A folder in the project. */
  readonly project: string;
}

/**
 * Regenerates the manifests of a project from its operator, all or none; or reports the changes.
 * @throws OperatorError `InvalidConfig`: the operator can't be loaded, or a file can't be changed; with
 * `check`: some files are stale
 */
export async function writeManifests(
  options: ManifestsOptions,
  context: CommandContext,
): Promise<void> {
  const { root, operator } = await loadOperator(resolve(context.cwd, options.project));
  const parts = [
    await crdFiles(root, operator.resources ?? []),
    await roleFiles(root, operator, 'manifests'),
    await webhookManifestFiles(root, operator, { keep: false }),
  ];
  const wanted = parts.flatMap((part) => part.wanted);
  const notes = [...parts.flatMap((part) => part.notes), ...conversionNotes(operator)];
  const command = 'npx operator-builder manifests';
  await generate({ folder: root, wanted, notes, command }, options, context);
}

interface Generated extends WantedManifests {
  readonly folder: string;
  /** The command line that writes stale files. */
  readonly command: string;
}

/**
 * Writes generated manifests, all or none, or reports the changes.
 * @throws OperatorError `InvalidConfig`: a file can't be changed; with `check`: some files are stale
 */
export async function generate(
  { folder, wanted, notes, command }: Generated,
  { check, force, output, ...options }: GeneratingOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const files = await planFiles(wanted, { folder, force });
  const dryRun = check || options.dryRun;
  if (!dryRun) await writeFiles(folder, files, context.stopSignal());
  context.stdout.write(manifestsText({ folder, dryRun, files, notes }, output));
  if (check) refuseStale('manifests', files, `run ${command}`);
  return files;
}

/** Reports conversion functions without a webhook. Tests do not fail: their server calls the functions directly. */
function conversionNotes(operator: OperatorDefinition): readonly string[] {
  return unservedConversions(operator).map(
    ({ kind }) =>
      `${kind}: functions convert its versions, but no conversionWebhook in the webhooks of the operator serves them, so an API server drops the fields that a version lacks; add conversionWebhook(${kind}) to webhooks`,
  );
}

const bases = 'config/crd/bases';
const list: FileList = {
  ...{ path: 'config/crd/kustomization.yaml', field: 'resources' },
  marker: '# +operator-builder:scaffold:crds',
};

/**
 * Returns the CustomResourceDefinitions of a project: a file for each resource, listed for kustomize. Deletes generated
 * files of removed resources; reports other files.
 * @param folder - the folder of the project
 * @throws OperatorError `InvalidConfig`: two resources share a file, or the list can't be changed
 */
export async function crdFiles(
  folder: string,
  resources: readonly OperatorResource[],
): Promise<WantedManifests> {
  const names = resources.map(({ group, plural }) => `${group}_${plural}.yaml`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const message = `two resources of the operator have the file ${bases}/${twice}: remove one of them`;
    throw new OperatorError('InvalidConfig', message);
  }
  const files = resources.map(({ crd }, index) => {
    const path = `${bases}/${names[index] ?? ''}`;
    return generatedFile(folder, { path, from: 'the schemas in src/api', objects: [crd] });
  });
  const { gone, left } = await otherFiles(join(folder, bases), /\.ya?ml$/, names);
  const inList = (name: string): string => `bases/${name}`;
  const wanted: readonly WantedFile[] = [
    ...(await Promise.all(files)),
    ...gone.map((name) => ({ type: 'delete', path: `${bases}/${name}` }) as const),
    ...(await listedFiles(folder, list, names.map(inList), gone.map(inList))),
  ];
  const notes = left.map(
    (name) =>
      `${bases}/${name} belongs to no resource of the operator, and was not generated: it is kept`,
  );
  return { wanted, notes };
}

/** Report of `operator-builder manifests`. */
export interface ManifestsReport {
  /** The project's folder, absolute. */
  readonly folder: string;
  /** Whether the command only shows changes and writes nothing. */
  readonly dryRun: boolean;
  readonly files: readonly PlannedFile[];
  readonly notes: readonly string[];
}

export function manifestsText(report: ManifestsReport, output: Output): string {
  const { folder, dryRun, files, notes } = report;
  if (output === 'json') {
    const said = files.map((file) => {
      const diff = dryRun && file.action !== 'keep' ? { diff: diffOf(file) } : {};
      return { path: file.path, action: file.action, ...diff };
    });
    return `${JSON.stringify({ folder, dryRun, files: said, notes }, undefined, 2)}\n`;
  }
  const changes = files.filter(({ action }) => action !== 'keep');
  const texts = dryRun
    ? changes.map(diffOf)
    : changes.map(({ path, action }) => `${done[action]} ${path}\n`);
  if (changes.length === 0) texts.push('The manifests are up to date.\n');
  return [...texts, ...notes.map((note) => `note: ${note}\n`)].join('');
}

function diffOf({ path, action, before, text }: PlannedFile): string {
  return textDiff(path, before, action === 'delete' ? undefined : text);
}
