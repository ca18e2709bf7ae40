import { join, relative, resolve, sep } from 'node:path';
import { readdir } from 'node:fs/promises';
import type { Document } from 'yaml';
import { parseDocument } from 'yaml';
import { OperatorError } from '../../system/operator-error.js';
import { isJsonObject } from '../../object/json.js';
import { checkYamlDepth } from '../../object/yaml-documents.js';
import type { CommandContext } from '../command-context.js';
import { contentError } from '../file-error.js';
import { textDiff } from '../object-texts.js';
import type { Output } from '../options/output-option.js';
import { builtOverlay } from '../package/overlay.js';
import type { BuiltOverlay, OverlayOptions } from '../package/overlay.js';
import { exists } from '../project/find-project.js';
import { readText } from '../read-text.js';
import { carryOut } from '../scaffold/carry-out.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { parseProject, projectFileName } from '../scaffold/project-file.js';
import { chartOf, hasKind } from './chart-files.js';
import type { Chart } from './chart-files.js';
import { isAsMade, madeText } from './made-file.js';
import { managerValues } from './manager-template.js';
import { mergedValues, withDefaults } from './values.js';
import type { ValueSchema } from './values.js';

/** Options of `operator-builder helm`. */
export interface ChartOptions extends OverlayOptions {
  /** Path in the project's folder. @defaultValue `charts/` and the project's name */
  readonly out?: string | undefined;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly output: Output;
}

/**
 * Makes or updates the chart of a project; changed values stay.
 * @throws OperatorError `InvalidConfig`: the overlay can't be built, or files were changed by hand
 */
export async function makeChart(options: ChartOptions, context: CommandContext): Promise<void> {
  const { dryRun, force, output } = options;
  const { folder, objects } = await builtOverlay(options, context);
  const name = await projectName(folder);
  const source = { name, version: await versionOf(folder), objects, from: options.overlay };
  const all = await withOptions({ folder, objects }, options, context);
  const chart = await chartOf({ ...source, all });
  const place = resolve(folder, options.out ?? `charts/${name}`);
  const out = relative(folder, place).replaceAll(sep, '/');
  const wanted = await wantedFiles(chart, { folder, out, version: source.version, force });
  const next = [
    `helm upgrade --install ${name} ${out} --namespace ${name}-system --create-namespace`,
  ];
  const outside = options.out !== undefined;
  const how = { directory: folder, dryRun, force: true, output, outside };
  await carryOut({ wanted, next }, how, context);
}

async function projectName(folder: string): Promise<string> {
  const path = join(folder, projectFileName);
  return parseProject(await readText(path), path).name;
}

async function versionOf(folder: string): Promise<string> {
  const path = join(folder, 'package.json');
  const content = jsonOf(await readText(path), path);
  const version = isJsonObject(content) ? content['version'] : undefined;
  if (typeof version === 'string' && version !== '') return version;
  throw new OperatorError('InvalidConfig', `${path}: want a version: it is the chart's, too`);
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw contentError(path, 'it is no JSON: repair it', error);
  }
}

/** Adds the optional parts of `config/default`, which values of a release switch on. */
async function withOptions(
  { folder, objects }: BuiltOverlay,
  options: ChartOptions,
  context: CommandContext,
): Promise<readonly object[]> {
  const resources: string[] = [];
  for (const [name, kind] of [
    ['prometheus', 'ServiceMonitor'],
    ['network-policy', 'NetworkPolicy'],
  ] as const) {
    const path = `../${name}`;
    if (hasKind(objects, kind) || !(await exists(join(folder, options.overlay, path)))) continue;
    resources.push(path);
  }
  const components = (await lacksMetricsAuth({ folder, objects }, options)) ? [metricsAuth] : [];
  if (resources.length === 0 && components.length === 0) return objects;
  return (await builtOverlay({ ...options, resources, components }, context)).objects;
}

const metricsAuth = '../metrics-auth';

/** Whether an overlay lacks the component that serves metrics over HTTPS. */
async function lacksMetricsAuth(
  { folder, objects }: BuiltOverlay,
  { overlay }: ChartOptions,
): Promise<boolean> {
  if (managerValues(objects, overlay).metricsAuth) return false;
  return exists(join(folder, overlay, metricsAuth));
}

interface ChartPlace {
  readonly folder: string;
  readonly out: string;
  readonly version: string;
  readonly force: boolean;
}

async function wantedFiles(chart: Chart, place: ChartPlace): Promise<readonly WantedFile[]> {
  const { out, force } = place;
  const at = (path: string): string => `${out}/${path}`;
  const { values, schema } = await valueFiles(chart, place);
  const made = [...chart.files, ['values.schema.json', schema] as const];
  const wanted: WantedFile[] = [
    { type: 'edited', path: at('Chart.yaml'), text: await chartText(chart.chart, place) },
    { type: 'edited', path: at('values.yaml'), text: values },
  ];
  const problems: string[] = [];
  for (const [path, content] of made) {
    const text = madeText(path, content);
    const before = await textIfExists(join(place.folder, at(path)));
    if (!force && before !== undefined && before !== text && !isAsMade(path, before)) {
      problems.push(textDiff(at(path), before, text));
    }
    wanted.push({ type: 'edited', path: at(path), text });
  }
  refuse(problems);
  return [...wanted, ...(await goingFiles(new Set(made.map(([path]) => path)), place))];
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const remedy = 'put the changes into config/ or into files of your own, or --force drops them';
  throw new OperatorError(
    'InvalidConfig',
    `these files were changed by hand (${remedy}):\n${problems.join('\n')}\nNothing was written.`,
  );
}

/** Returns the obsolete generated files that are unchanged. */
async function goingFiles(
  made: ReadonlySet<string>,
  { folder, out }: ChartPlace,
): Promise<readonly WantedFile[]> {
  const going: WantedFile[] = [];
  for (const below of ['templates', 'templates/crds']) {
    for (const name of await namesIn(join(folder, out, below))) {
      const path = `${below}/${name}`;
      if (made.has(path) || !/\.(?:yaml|tpl|txt)$/.test(name)) continue;
      const text = await textIfExists(join(folder, out, path));
      if (text === undefined || !isAsMade(path, text)) continue;
      going.push({ type: 'delete', path: `${out}/${path}` });
    }
  }
  return going;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await exists(folder)) ? (await readdir(folder)).toSorted() : [];
}

/** Updates the versions in the user's Chart.yaml. */
async function chartText(chart: Document, { folder, out, version, force }: ChartPlace) {
  const own = force ? undefined : await textIfExists(join(folder, out, 'Chart.yaml'));
  const document = own === undefined ? chart : parseDocument(checkYamlDepth(own, 'Chart.yaml'));
  document.set('version', version);
  document.set('appVersion', version);
  return document.toString({ lineWidth: 0 });
}

async function valueFiles(
  { values: defaults, schema }: Chart,
  { folder, out, force }: ChartPlace,
): Promise<Readonly<Record<'values' | 'schema', string>>> {
  const file = join(folder, out, 'values.yaml');
  const text = force ? undefined : await textIfExists(file);
  const oldFile = join(folder, out, 'values.schema.json');
  const old = await textIfExists(oldFile);
  const before = old === undefined ? {} : (jsonOf(old, oldFile) as ValueSchema);
  const merged =
    text === undefined
      ? { text: defaults.toString({ lineWidth: 0 }), more: [] }
      : mergedValues({ text, file, defaults, before, schema });
  const filled = withDefaults(schema, defaults, merged.more);
  return { values: merged.text, schema: `${JSON.stringify(filled, undefined, 2)}\n` };
}
