const about =
  'I am the built-in extractive model of Inlay. I search the documents for your question and answer with the sentences that fit best, word for word and each with its source; I make nothing up, and I do not reason or write text of my own. A language model takes my place as soon as one is configured.'

const again = 'Is there anything else you want to know from the documents?'

const small: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:hi|hello|hey|heya|hiya|yo|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|hola|bonjour|salut|ciao|hej)(?: (?:there|all|you|everyone|inlay|bot|assistant))?$/,
    'Hello! Ask me a question, and I will look for the answer in the documents.',
  ],
  [
    /^(?:how are you|how(?:['’]s| is) it going|what(?:['’]s| is) up|how do you do)(?: (?:today|doing))?$/,
    'Ready to search. What would you like to know from the documents?',
  ],
  [
    /^(?:(?:many )?thanks|thank you|thx|ty|cheers|much appreciated)(?: (?:a lot|a ton|so much|very much|again|for (?:the|your) (?:help|answer)))?$/,
    `You are welcome. ${again}`,
  ],
  [
    /^(?:ok|okay|k|great|good|nice|cool|perfect|awesome|excellent|got it|i see|makes sense|alright|all right|fine|understood|wow|yes|no|sure|right)(?: (?:thanks|thank you))?$/,
    again,
  ],
  [
    /^(?:bye|goodbye|good bye|see you|see ya|ciao|good night|later|that(?:['’]s| is) all)(?: (?:later|soon|then))?$/,
    'Goodbye!',
  ],
  [
    /^(?:who|what) are you(?: exactly)?$|^what is your name$|^what(?:['’]s| is) (?:this (?:assistant|bot|chat|model|thing))$|^(?:are|is) (?:you|this) (?:an? )?(?:ai|bot|robot|human|person|real|chat ?gpt|gpt|claude|llm|language model|chatbot|machine|real person)$|^(?:which|what) (?:language )?(?:model|llm|ai)(?: (?:are you|is this|do you use|are you using|version))?(?: (?:are you|version))?$|^introduce yourself$/,
    about,
  ],
  [
    /^(?:help|help me|what (?:can|do) you do|what (?:can|could|should|do) i (?:ask|do)(?: (?:you|here))?|how (?:can|could) you help(?: me)?|how do (?:you|i use (?:you|this)|you work|does this work)(?: work)?|how does this work|what (?:are|is) your (?:capabilities|features|purpose)|what do you know(?: about)?|can you help(?: me)?|menu|commands|test|ping)$/,
    about,
  ],
]

/** The answer to a message that asks nothing of the documents: a greeting, thanks, a question about the model. */
export function smallTalk(message: string): string | undefined {
  const bare = message
    .toLowerCase()
    .replace(/[\s!?.,:;)(]+|[\p{Emoji_Presentation}\p{Extended_Pictographic}\uFE0F]/gu, ' ')
    .trim()
  if (bare === '') return 'Ask me a question, and I will look for the answer in the documents.'
  const said = small.find(([pattern]) => pattern.test(bare))?.[1]
  if (said !== undefined) return said
  // "hi, who are you" is two of them.
  const rest = bare.replace(/^(?:hi|hello|hey|ok|okay|thanks|thank you|so|well|great|cool)(?: there)? /, '')
  return rest === bare ? undefined : small.find(([pattern]) => pattern.test(rest))?.[1]
}

/** What is said when no search can be made and nothing at hand answers. */
export const withoutDocuments: string =
  'I can only answer from documents, and searching them is not available for this message. I am the built-in extractive model: I quote the sentences that answer best, and know nothing by myself.'
