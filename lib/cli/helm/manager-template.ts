import { isJsonObject } from '../../object/json.js';
import type { Json } from '../json-values.js';
import { objectAt, objectMadeAt, objectsAt, textAt } from '../json-values.js';
import { managerDeployment } from '../package/overlay.js';
import { spreadLines, textLines, valueLines } from './template-text.js';
import type { TemplateText } from './template-text.js';

/** Fields of the pod that a value replaces as a whole, with the names of the values. */
const podValues = [
  ['imagePullSecrets', 'imagePullSecrets'],
  ['nodeSelector', 'nodeSelector'],
  ['tolerations', 'tolerations'],
  ['affinity', 'affinity'],
  ['topologySpreadConstraints', 'topologySpreadConstraints'],
  ['securityContext', 'podSecurityContext'],
] as const;

/** Fields of the container that a value replaces as a whole. */
const containerValues = ['resources', 'securityContext'] as const;

/** The values of the operator's Deployment; other fields stay as in `config/`. */
export interface ManagerValues {
  readonly image: { readonly name: string; readonly pullPolicy: string };
  readonly replicas: unknown;
  readonly priorityClassName: string;
  readonly logLevel: string;
  readonly leaderElection: boolean;
  readonly metricsAuth: boolean;
  /** Fields of the pod and its container by the names of the values. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Reads the values from a Deployment. */
export function managerValues(objects: readonly object[], from: string): ManagerValues {
  const { deployment, podSpec, container } = managerDeployment(objects, from);
  const args = textsOf(container['args']);
  const pod = podValues.map(([member, name]) => [name, podSpec[member]] as const);
  const own = containerValues.map((name) => [name, container[name]] as const);
  return {
    image: { name: textAt(container, 'image'), pullPolicy: textAt(container, 'imagePullPolicy') },
    replicas: objectAt(deployment, 'spec')?.['replicas'] ?? 1,
    priorityClassName: textAt(podSpec, 'priorityClassName'),
    logLevel: args.find((arg) => arg.startsWith(logLevelFlag))?.slice(logLevelFlag.length) ?? '',
    leaderElection: args.includes(electFlag),
    metricsAuth: args.includes(authFlag),
    fields: Object.fromEntries([...pod, ...own]),
  };
}

const logLevelFlag = '--log-level=';
const electFlag = '--leader-elect';
const authFlag = '--metrics-auth';

function textsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((one) => typeof one === 'string');
}

/** Replaces fields of the Deployment by values. @param deployment - changed in place */
export function templateManager(deployment: Json, text: TemplateText, chart: string): void {
  const { podSpec, container } = managerDeployment([deployment], 'the chart');
  const spec = objectMadeAt(deployment, 'spec');
  spec['replicas'] = text.inline('.Values.replicas');
  templateMetadata(objectMadeAt(spec, 'template'), text);
  for (const [member, value] of podValues) {
    Reflect.deleteProperty(podSpec, member);
    podSpec[text.lines(valueLines(member, value))] = null;
  }
  Reflect.deleteProperty(podSpec, 'priorityClassName');
  podSpec[text.lines(textLines('priorityClassName', 'priorityClassName'))] = null;
  templateContainer(container, text, chart);
  templateVolumes(podSpec, container, text);
}

function templateMetadata(template: Json, text: TemplateText): void {
  const metadata = objectMadeAt(template, 'metadata');
  for (const [member, value] of [
    ['annotations', 'podAnnotations'],
    ['labels', 'podLabels'],
  ] as const) {
    const own = objectAt(metadata, member);
    if (own === undefined) metadata[text.lines(valueLines(member, value))] = null;
    else own[text.lines(spreadLines(value))] = null;
  }
}

function templateContainer(container: Json, text: TemplateText, chart: string): void {
  container['image'] = text.inline(`include "${chart}.image" . | quote`);
  Reflect.deleteProperty(container, 'imagePullPolicy');
  container[text.lines(textLines('imagePullPolicy', 'image.pullPolicy'))] = null;
  container['args'] = templatedArgs(textsOf(container['args']), text);
  const env: readonly unknown[] = Array.isArray(container['env']) ? container['env'] : [];
  if (env.length > 0) container['env'] = [...env, text.lines(spreadLines('extraEnv'))];
  else container[text.lines(valueLines('env', 'extraEnv'))] = null;
  for (const name of containerValues) {
    Reflect.deleteProperty(container, name);
    container[text.lines(valueLines(name, name))] = null;
  }
  const { ports } = container;
  if (Array.isArray(ports)) container['ports'] = ports.flatMap((port) => templatedPort(port, text));
}

function templatedArgs(args: readonly string[], text: TemplateText): readonly string[] {
  const own = args.filter((arg) => !arg.startsWith(logLevelFlag));
  const level = text.lines((indent) => {
    const blanks = ' '.repeat(indent);
    const line = `${blanks}- ${logLevelFlag}{{ . }}`;
    return [`${blanks}{{- with .Values.logLevel }}`, line, `${blanks}{{- end }}`];
  });
  const withElection = own.includes(electFlag) ? own : [...own, electFlag];
  return [
    ...withElection.flatMap((arg) => templatedArg(arg, text)),
    ...only('not .Values.metrics.enabled', ['--no-metrics'], text),
    ...only('not .Values.webhook.enabled', ['--no-webhooks'], text),
    level,
    text.lines(spreadLines('extraArgs')),
  ];
}

const authCondition = 'and .Values.metrics.enabled .Values.metrics.auth';

/** Makes an argument of an optional part conditional on that part. */
function templatedArg(arg: string, text: TemplateText): readonly string[] {
  if (arg === electFlag) return only('.Values.leaderElection.enabled', [arg], text);
  if (arg === authFlag) return only(authCondition, [arg], text);
  const [, part] = /^--(metrics|webhook)-/.exec(arg) ?? [];
  return part === undefined ? [arg] : only(`.Values.${part}.enabled`, [arg], text);
}

function only<T>(condition: string, items: readonly T[], text: TemplateText) {
  return [text.line(`if ${condition}`), ...items, text.line('end')];
}

function templatedPort(port: unknown, text: TemplateText): readonly unknown[] {
  const name = isJsonObject(port) ? textAt(port, 'name') : '';
  const part = /^(metrics|webhook)\b/.exec(name)?.[1];
  return part === undefined ? [port] : only(`.Values.${part}.enabled`, [port], text);
}

/** Adds the volumes of the values; mounts the webhooks' certificate only with webhooks. */
function templateVolumes(podSpec: Json, container: Json, text: TemplateText): void {
  const isCertificate = (volume: Json): boolean =>
    textAt(objectAt(volume, 'secret'), 'secretName').endsWith('-webhook-server-cert');
  const certificates = objectsAt(podSpec, 'volumes').filter(isCertificate);
  const names = new Set(certificates.map(({ name }) => name));
  for (const [object, member, value] of [
    [podSpec, 'volumes', 'extraVolumes'],
    [container, 'volumeMounts', 'extraVolumeMounts'],
  ] as const) {
    const own = objectsAt(object, member).flatMap((item) =>
      names.has(item['name']) ? only('.Values.webhook.enabled', [item], text) : [item],
    );
    Reflect.deleteProperty(object, member);
    if (own.length === 0) object[text.lines(valueLines(member, value))] = null;
    else object[member] = [...own, text.lines(spreadLines(value))];
  }
}
