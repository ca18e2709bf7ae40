import { camelCase, kebabCase } from './names.js';
import type { Project, ProjectResource } from './project-file.js';
import type { TemplateValues } from './template.js';

/** Of what files are wanted. */
export interface ApiParts {
  /** The schema, the CRD, a sample, roles for people. */
  readonly withResource: boolean;
  /** The controller, its test, and what it may do. */
  readonly withController: boolean;
}

/** What the templates of a version of a kind are filled in with. */
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
  ];
  return {
    words: {
      ...{ 'operator-name': project.name, 'domain.example': project.domain, groupname: group },
      ...{ KindName: kind, kindName: camelCase(kind), 'kind-name': kebabCase(kind) },
      ...{ kindname: kind.toLowerCase(), kindnames: plural, v99alpha99: version },
      ...{ V99alpha99: version.charAt(0).toUpperCase() + version.slice(1), Namespaced: scope },
    },
    conditions: new Set(conditions),
    style,
  };
}
