/** What stands in a plan for the UID of what does not exist yet. */
export const placeholderUid = '00000000-0000-0000-0000-000000000000';
