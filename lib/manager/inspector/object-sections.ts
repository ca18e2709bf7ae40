import { describeObject } from '../../object/describe-object.js';
import { html } from './html.js';
import type { Html } from './html.js';
import type { ObjectTree, TreeNode } from './object-tree.js';
import { objectLink } from './object-link.js';
import type { ObjectView, ShownCondition } from './object-view.js';
import { facts } from './process-sections.js';
import type { Section } from './sections.js';
import { andMore, table } from './table.js';

/** Returns the sections of an object's page. */
export function objectSections(tree: ObjectTree): readonly Section[] {
  const { view, searchedKinds } = tree;
  return [
    { id: 'object', title: 'Object', body: objectSection(view) },
    { id: 'conditions', title: 'Status conditions', body: conditionsSection(view) },
    {
      id: 'owners',
      title: 'Owned by',
      body:
        tree.owners.length === 0
          ? html`<p class="none">It has no owner.</p>`
          : html`<ul class="tree">
              ${tree.owners.map(nodeItem)}
            </ul>`,
    },
    {
      id: 'dependents',
      title: 'Controls',
      body: html`${
          tree.dependents.length === 0
            ? html`<p class="none">Nothing that is cached.</p>`
            : html`<ul class="tree">
                  ${tree.dependents.map(nodeItem)}
                </ul>
                ${andMore(tree.moreDependents)}`
        }
        <p class="note">
          Looked for among the cached kinds: ${searchedKinds.join(', ') || 'none'}.
        </p>`,
    },
  ];
}

function objectSection({ object, from, problem, isBeingDeleted }: ObjectView): Html {
  return html`${facts([
    ['Kind', `${object.kind} (${object.apiVersion})`],
    ['Namespace', object.namespace ?? 'none'],
    ['Name', object.name],
    ['UID', object.uid ?? 'not known'],
    ['Read from', placeOf(from)],
    ...(object.cluster === '' ? [] : ([['Cluster', object.cluster]] as const)),
    ...(isBeingDeleted ? ([['Deletion', 'is being deleted']] as const) : []),
  ])}${problem === undefined ? undefined : html`<p class="bad message">${problem}</p>`}`;
}

function conditionsSection({ conditions }: ObjectView): Html {
  return table<ShownCondition>(
    conditions,
    [
      { head: 'Type', cell: ({ type }) => type },
      { head: 'Status', cell: ({ status }) => status },
      { head: 'Reason', cell: ({ reason }) => reason },
      { head: 'Message', cell: ({ message }) => html`<span class="message">${message}</span>` },
    ],
    { id: 'conditions', caption: 'Conditions of its status', empty: 'It has no conditions.' },
  );
}

function nodeItem({ view, children, more }: TreeNode): Html {
  const below =
    children.length === 0
      ? undefined
      : html`<ul>
          ${children.map(nodeItem)}
        </ul>`;
  return html`<li>${nodeText(view)}${below}${andMore(more)}</li> `;
}

function nodeText({ object, from, problem, isBeingDeleted, conditions }: ObjectView): Html {
  const states = conditions.items.map(({ type, status }) => `${type}: ${status}`);
  const notes = [
    ...(from === 'server' ? ['read from the server'] : []),
    ...(isBeingDeleted ? ['is being deleted'] : []),
    ...states,
  ];
  const note =
    notes.length === 0 ? undefined : html` <span class="note">${notes.join(', ')}</span>`;
  if (problem === undefined) return html`${objectLink(object, 'kind')}${note}`;
  return html`${describeObject(object)} <span class="bad message">${problem}</span>`;
}

function placeOf(from: ObjectView['from']): string {
  switch (from) {
    case 'cache':
      return 'the cache';
    case 'server':
      return 'the server: it is not cached';
    case 'gone':
      return 'nowhere: there is no such object';
    case 'unreadable':
      return 'nowhere: it could not be read';
  }
}
