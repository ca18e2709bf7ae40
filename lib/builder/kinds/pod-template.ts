import type { PodSpec, PodTemplate } from '../../apply/index.js';
import { isJsonObject } from '../../object/index.js';
import type { OptionNames } from '../../system/index.js';
import { OperatorError } from '../../system/index.js';
import { recordingReferences } from '../chain-references.js';
import type { ChainNames } from '../chain-names.js';
import type { ChainReferences } from '../chain-references.js';
import type { ObjectOptions, RequiredName } from '../link.js';
import { refuseUnknownLinkOptions } from './object-link.js';

/** The pods of a workload or Job: exactly one of `podSpec` and `podTemplate` must be set. */
export interface PodOptions<Names extends ChainNames> {
  /** Pod specification, or a function that makes it from the names of the chain. */
  readonly podSpec?: PodSpec | ((references: ChainReferences<Names>) => PodSpec) | undefined;
  /** Pod template with metadata, or a function that makes it from the names of the chain. */
  readonly podTemplate?:
    PodTemplate | ((references: ChainReferences<Names>) => PodTemplate) | undefined;
  /**
   * Labels of the pods in addition to those of the selector. The builder's own labels are left out: a label
   * that changes with the operator's version would roll every pod.
   */
  readonly podLabels?: Readonly<Record<string, string | undefined>> | undefined;
  readonly podAnnotations?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The names of {@link PodOptions}. */
export const podOptionNames: OptionNames<PodOptions<ChainNames>> = {
  ...{ podSpec: true, podTemplate: true, podLabels: true, podAnnotations: true },
};

/** Remedy in the error about a `spec` that has a pod template. */
export const templateRemedy = 'use the option podTemplate';

/** A pod template and the names of chained objects that it uses. */
export interface RecordedTemplate {
  readonly template: PodTemplate;
  readonly requires: readonly RequiredName[];
}

/** The kind of a link with pods. */
export interface PodLink {
  readonly kind: string;
  /** The names of the options that are neither common to all kinds nor `spec`. */
  readonly others: object;
}

/**
 * Returns the pod template that `options` describe, with `labels` added.
 * @throws OperatorError `InvalidOption`: both or neither of `podSpec` and `podTemplate` are set, or the pods have
 * no list of containers.
 */
export function podTemplateOf<Names extends ChainNames>(
  options: PodOptions<Names> & ObjectOptions,
  labels: Readonly<Record<string, string>>,
  link: PodLink,
): RecordedTemplate {
  const { podSpec, podTemplate, podLabels, podAnnotations } = options;
  const refuse = (problem: string): never => {
    throw new OperatorError('InvalidOption', `${link.kind} ${options.name}: ${problem}`);
  };
  if ((podSpec === undefined) === (podTemplate === undefined)) {
    // A misspelt `podSpec` counts as missing, so the error must name the misspelt option.
    refuseUnknownLinkOptions(link, options, { spec: true }, link.others);
    refuse('give exactly one of podSpec and podTemplate');
  }
  const requires: RequiredName[] = [];
  const references = recordingReferences<Names>(requires);
  const given =
    podSpec === undefined
      ? resolve(podTemplate, references)
      : { spec: resolve(podSpec, references) };
  const { metadata, spec } = given as PodTemplate;
  const containers: unknown = spec?.containers;
  if (spec !== undefined && !Array.isArray(containers)) {
    refuse(
      `containers of its pods: want a list, got ${containers === null ? 'null' : typeof containers}`,
    );
  }
  const stray = spec?.containers.find((each: unknown) => each !== undefined && !isJsonObject(each));
  if (stray !== undefined) refuse('containers of its pods: want objects in the list');
  const allLabels = { ...metadata?.labels, ...definedOf(podLabels), ...labels };
  const allAnnotations = { ...metadata?.annotations, ...definedOf(podAnnotations) };
  const template: PodTemplate = {
    metadata: {
      ...metadata,
      ...(Object.keys(allLabels).length > 0 && { labels: allLabels }),
      ...(Object.keys(allAnnotations).length > 0 && { annotations: allAnnotations }),
    },
    ...(spec !== undefined && { spec }),
  };
  return { template, requires };
}

/** Drops undefined members, so that they do not override a value. */
function definedOf(
  members: Readonly<Record<string, string | undefined>> | undefined,
): Record<string, string> {
  const defined = Object.entries(members ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Record<string, string>;
}

function resolve<Names extends ChainNames, T extends object>(
  value: T | ((references: ChainReferences<Names>) => T) | undefined,
  references: ChainReferences<Names>,
): T | undefined {
  return typeof value === 'function' ? value(references) : value;
}
