import { builtInType } from './built-in-kinds.js';
import { camelCase, kebabCase } from './names.js';
import { wholeGroup } from './project-file.js';
import type { Project, ProjectResource } from './project-file.js';
import type { TemplateValues } from './template.js';

/** The parts of an API to create. */
export interface ApiParts {
  /** The schema, the CRD, a sample and roles for people. */
  readonly withResource: boolean;
  /** The controller, its test and its permissions. */
  readonly withController: boolean;
}

/** Returns the template values of a version of a kind. */
export function valuesOf(
  project: Project,
  resource: ProjectResource,
  parts: ApiParts = { withResource: true, withController: resource.controller !== undefined },
): TemplateValues {
  const { group, version, kind, plural, scope, controller } = resource;
  const style = controller ?? 'builder';
  const conditions = [
    scope === 'Cluster' ? 'cluster-scoped' : 'namespaced',
    ...(parts.withController ? ['controller', `controller-${style}`] : []),
    ...(parts.withResource ? ['resource'] : []),
    ...(builtInType(resource) === undefined ? ['custom'] : []),
  ];
  return {
    words: {
      ...{ 'operator-name': project.name, 'domain.example': project.domain, groupname: group },
      ...{ KindName: kind, kindName: camelCase(kind), 'kind-name': kebabCase(kind) },
      ...{ kindname: kind.toLowerCase(), kindnames: plural, v99alpha99: version },
      ...groupWords(project, resource),
      ...{ V99alpha99: version.charAt(0).toUpperCase() + version.slice(1), Namespaced: scope },
    },
    conditions: new Set(conditions),
    style,
  };
}

/** Returns the words for a foreign group, which lacks the project's domain and may be empty. */
function groupWords(project: Project, resource: ProjectResource): Readonly<Record<string, string>> {
  if (resource.external !== true) return {};
  const group = wholeGroup(project, resource);
  const apiVersion = group === '' ? resource.version : `${group}/${resource.version}`;
  const whole = 'groupname.domain.example';
  return {
    [whole]: group,
    [`${whole}/v99alpha99`]: apiVersion,
    [`${whole}/v98alpha98`]: apiVersion,
  };
}
