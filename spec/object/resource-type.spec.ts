import { expect } from 'chai';
import {
  apiVersionOf,
  groupOf,
  groupOfType,
  isBookkeeping,
  isBuiltInGroup,
  versionOf,
} from '../../lib/object/index.js';

describe('the apiVersion of a resource type', () => {
  for (const [apiVersion, group, version] of [
    ['v1', '', 'v1'],
    ['apps/v1', 'apps', 'v1'],
    ['rbac.authorization.k8s.io/v1', 'rbac.authorization.k8s.io', 'v1'],
    ['/v1', '', 'v1'],
    ['x/v2', 'x', 'v2'],
  ] as const) {
    it(`${apiVersion} has the group "${group}" and the version ${version}`, () => {
      expect([groupOf(apiVersion), versionOf(apiVersion)]).to.deep.equal([group, version]);
      const type = { group, version, kind: 'Thing', plural: 'things', namespaced: true };
      expect(apiVersionOf(type)).to.equal(group === '' ? version : apiVersion);
      expect(apiVersionOf({ apiVersion, kind: 'Thing' })).to.equal(apiVersion);
      for (const each of [type, { apiVersion, kind: 'Thing' }, { group, kind: 'Thing' }]) {
        expect(groupOfType(each)).to.equal(group);
      }
    });
  }

  for (const [group, isBuiltIn] of [
    ['', true],
    ['apps', true],
    ['rbac.authorization.k8s.io', true],
    ['example.com', false],
    ['k8s.io.example.com', false],
  ] as const) {
    it(`${isBuiltIn ? 'belongs' : 'does not belong'} to Kubernetes in the group "${group}"`, () => {
      expect(isBuiltInGroup(group)).to.equal(isBuiltIn);
    });
  }
});

describe('requests that a manager sends for its own purposes, not for its controllers', () => {
  const all = ['get', 'list', 'watch', 'event', 'create', 'patch', 'delete'];
  const reads = all.slice(0, 4);
  const reviews = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'];
  const others = ['subjectaccessreviews', 'localsubjectaccessreviews', 'tokenreviews'];
  for (const [resource, verbs] of [
    ...[...reviews, ...others, 'leases', 'events', 'Lease', 'TokenReview'].map((name) => [
      name,
      all,
    ]),
    ['customresourcedefinitions', reads],
    ['CustomResourceDefinition', reads],
    ['pods', []],
    ['Secret', []],
  ] as [string, string[]][]) {
    it(`have the verbs ${verbs.join() || '(none)'} for ${resource}`, () => {
      expect(all.filter((verb) => isBookkeeping(verb, resource))).to.deep.equal(verbs);
    });
  }
});
