import { expect } from 'chai';
import { controllerFor, done } from '../../lib/controller/index.js';
import type { Reconciler } from '../../lib/controller/index.js';
import { ConfigMap, Secret } from '../../lib/object/index.js';

const failureOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('controllerFor', () => {
  // The compiler rejects these mistakes; plain JavaScript and circular imports can still make them.
  const nothing = undefined as unknown as typeof ConfigMap;
  const noFunction = undefined as unknown as Reconciler;
  const mistakes: readonly [string, () => unknown, string][] = [
    ['no type', () => controllerFor(nothing), 'controllerFor: the type is undefined: pass a'],
    ['no owned type', () => controllerFor(Secret).owns(nothing), 'owns: the type is undefined'],
    [
      'no watched type',
      () => controllerFor(Secret).watches(nothing, () => []),
      'watches: the type is undefined',
    ],
    [
      'no mapper',
      () => controllerFor(Secret).watches(ConfigMap, undefined as never),
      'watches: want a mapper, a function; got undefined',
    ],
    [
      'no reconciler',
      () => controllerFor(Secret).complete(noFunction),
      'complete: want the reconciler, a function; got undefined',
    ],
  ];
  for (const [what, act, message] of mistakes) {
    it(`rejects ${what} with an error that names the mistake`, () => {
      const error = failureOf(act);
      expect(error).to.have.property('code', 'InvalidOption');
      expect(error).to.have.property('message').that.contains(message);
    });
  }

  it('accepts valid arguments and derives the name from the kind', () => {
    const controller = controllerFor(Secret)
      .owns(ConfigMap)
      .complete(() => Promise.resolve(done()));
    expect(controller.name).to.equal('secret');
  });
});
