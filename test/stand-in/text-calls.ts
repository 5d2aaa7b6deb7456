/**
 * A call of a tool with one list as its arguments, as models of many makers write it where their server reads no calls
 * out of their text.
 */
export function textCallsOfMakers(name: string, key: string, list: string): readonly (readonly [string, string])[] {
  const args = `{"${key}": ${list}}`
  const json = `{"name": "${name}", "arguments": ${args}}`
  const invoke = (prefix: string): string =>
    `<${prefix}invoke name="${name}"><${prefix}parameter name="${key}">${list}</${prefix}parameter></${prefix}invoke>`
  const gemma = (quote: string): string => `call:${name}{${key}:${list.replaceAll('"', quote)}}`
  return [
    [
      'gpt-oss',
      `<|channel|>analysis<|message|>We look.<|end|><|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${args}<|call|>`,
    ],
    [
      'gpt-oss, the tool first',
      `<|start|>assistant to=functions.${name}<|channel|>commentary json<|message|>${args}<|call|>`,
    ],
    ['gpt-oss without its signs', `analysisWe look.assistantcommentary to=functions.${name} json${args}`],
    ['GLM', `<tool_call>${name}\n<arg_key>${key}</arg_key>\n<arg_value>${list}</arg_value>\n</tool_call>`],
    ['GLM, older', `${name}\n${args}`],
    ['MiniMax', `<minimax:tool_call>\n${invoke('')}\n</minimax:tool_call>`],
    ['MiniMax, older', `<tool_calls>\n${json}\n</tool_calls>`],
    [
      'DeepSeek 3.1',
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${args}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    ],
    ['DeepSeek 3.2', `<｜DSML｜function_calls>\n${invoke('｜DSML｜')}\n</｜DSML｜function_calls>`],
    ['DeepSeek 4', `<｜DSML｜tool_calls>\n${invoke('｜DSML｜')}\n</｜DSML｜tool_calls>`],
    ['Gemma 3', `\`\`\`tool_code\nprint(${name}(${key}=${list}))\n\`\`\``],
    ['Gemma 4', `<|tool_call>${gemma('<|"|>')}<tool_call|>`],
    ['Function Gemma', `<start_function_call>${gemma('<escape>')}<end_function_call>`],
    ['Command', `<|START_ACTION|>[{"tool_name": "${name}", "parameters": ${args}}]<|END_ACTION|>`],
    ['LFM', `<|tool_call_start|>[${name}(${key}=${list})]<|tool_call_end|>`],
    ['Phi mini', `functools[${json}]`],
    ['Nemotron', `<TOOLCALL>[${json}]</TOOLCALL>`],
    [
      'Seed',
      `<seed:tool_call>\n<function=${name}>\n<parameter=${key}>${list}</parameter>\n</function>\n</seed:tool_call>`,
    ],
    ['InternLM', `<|action_start|><|plugin|>\n{"name": "${name}", "parameters": ${args}}<|action_end|>`],
    [
      'Step',
      `<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>${invoke('steptml:')}<｜tool_call_end｜>\n<｜tool_calls_end｜>`,
    ],
    ['Granite', `<function_call> ${json}`],
    ['Functionary', `>>>${name}\n${args}`],
    ['OLMo', `<function_calls>${name}(${key}=${list})</function_calls>`],
    ['Apertus', `<|tools_prefix|>[{"${name}": ${args}}]<|tools_suffix|>`],
    ['Llama 4', `<|python_start|>[${name}(${key}=${list})]<|python_end|>`],
    ['Mistral with an id', `[TOOL_CALLS]${name}[CALL_ID]a1B2c3D4e[ARGS]${args}`],
    [
      'Kimi with spaces, no section',
      `<|tool_call_begin|> functions.${name}:0 <|tool_call_argument_begin|> ${args} <|tool_call_end|>`,
    ],
    ['Qwen that forgets a bracket', `<tool_call>\n${json.slice(0, -1)}\n</tool_call>`],
    ['ReAct in lines', `Action: ${name}\nAction Input: ${args}`],
  ]
}
