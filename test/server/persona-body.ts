/** The least that makes an agent, as its body. */
export const personaBody: Readonly<Record<string, string | boolean | readonly number[]>> = {
  name: 'a',
  description: '',
  document_set_ids: [],
  tool_ids: [],
  system_prompt: '',
  task_prompt: '',
  datetime_aware: true,
}
