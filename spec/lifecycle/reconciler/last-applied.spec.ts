import { expect } from 'chai';
import {
  kindSchema,
  lastAppliedOf,
  readLastApplied,
} from '../../../lib/lifecycle/reconciler/merged-object.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { deployment } from '../suite/system.js';

const annotationsLimit = 256 * 1024;

describe('the last-applied annotation', () => {
  const text = (object: UnstructuredObject): string => lastAppliedOf(object, kindSchema(object));

  it('records the set fields, with list entries by name and without values', () => {
    const fields = readLastApplied(text(deployment('shop')), {});
    const containers = { 'k:{"name":"web"}': {} };
    const path = 'f:spec.f:template.f:spec.f:containers';
    expect(fields).to.have.nested.property(path).that.has.all.keys(Object.keys(containers));
    expect(text(deployment('shop'))).to.not.include('nginx');
  });

  it('stays small for the definition of a large kind', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, place) => [`property${place}`, { type: 'string' }]),
    );
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    const definition = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'bigs.example.com' },
      spec: { group: 'example.com', versions: [{ name: 'v1', schema }] },
    };
    expect(JSON.stringify(definition).length).to.be.above(annotationsLimit);
    expect(text(definition).length).to.be.below(1_000);
    expect(text(definition)).to.include('f:openAPIV3Schema');
  });

  it('reads its own format and that of the Go SDK', () => {
    const object = deployment('shop');
    const schema = kindSchema(object);
    const fields = readLastApplied(text(object), schema);
    expect(readLastApplied(JSON.stringify(object), schema)).to.deep.equal(fields);
  });
});
