import { expect } from 'chai';
import { podBehaviorOf } from '../../../../lib/apiserver/controllers/pod-behavior.js';
import { pod } from '../workload-objects.js';

function withImage(image: string) {
  return pod('p', { containers: [{ name: 'main', image }] });
}

describe('podBehaviorOf', () => {
  const images: readonly [image: string, behavior: string][] = [
    ['registry/app:1', 'ready'],
    ['registry/app', 'ready'],
    ['registry/app:broken', 'imagePullError'],
    ['registry:5000/app:1.2-broken', 'imagePullError'],
    ['registry/app:broken@sha256:0123', 'imagePullError'],
    ['registry/broken', 'ready'],
    ['registry/app:unbroken', 'ready'],
    ['app:crashing', 'crashLoop'],
    ['app:2-never-ready', 'neverReady'],
    ['app:failing', 'fail'],
  ];
  for (const [image, behavior] of images) {
    it(`returns ${behavior} for the image ${image}`, () => {
      expect(podBehaviorOf(withImage(image))).to.equal(behavior);
    });
  }

  it("prefers the annotation over the image, and the caller's function over both", () => {
    const annotations = { 'operator-builder.io/pod-behavior': 'crashLoop' };
    const broken = { ...withImage('app:broken'), metadata: { name: 'p', annotations } };
    expect(podBehaviorOf(broken)).to.equal('crashLoop');
    expect(podBehaviorOf(broken, () => 'neverReady')).to.equal('neverReady');
    expect(podBehaviorOf(broken, () => undefined)).to.equal('crashLoop');
  });

  it('returns succeed for pods of Jobs', () => {
    const controller = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'j',
      uid: 'u',
      controller: true,
    };
    expect(podBehaviorOf(pod('p', {}, { ownerReferences: [controller] }))).to.equal('succeed');
  });
});
