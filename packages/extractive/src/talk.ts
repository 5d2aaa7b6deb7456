const about =
  'I am the built-in extractive model of Inlay. I search the documents and quote the sentences that fit your question, each with its source. I do not reason or write text of my own; a language model takes over as soon as one is configured.'

const again = 'Is there anything else you want to know from the documents?'

const replies: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:hi|hello|hey|hiya|yo|greetings|good (?:morning|afternoon|evening|day)|hallo|hola|bonjour|salut|ciao|hej)(?: (?:there|all|you|everyone|inlay|bot|assistant))?$/,
    'Hello! Ask me a question, and I will look for the answer in the documents.',
  ],
  [
    /^(?:how are you|how(?:['’]s| is) it going|what(?:['’]s| is) up|how do you do)(?: (?:today|doing))?$/,
    `Ready to search. ${again}`,
  ],
  [
    /^(?:(?:many )?thanks|thank you|thx|ty|cheers|danke|gracias|merci)(?: (?:a lot|so much|very much|again|for (?:the|your) (?:help|answer)))?$/,
    `You are welcome. ${again}`,
  ],
  [
    /^(?:ok|okay|k|great|good|nice|cool|perfect|awesome|excellent|got it|i see|makes sense|all ?right|fine|understood|wow|yes|no|sure|right)(?: (?:thanks|thank you))?$/,
    again,
  ],
  [/^(?:bye|goodbye|good bye|see you|ciao|good night|that(?:['’]s| is) all)(?: (?:later|soon|then))?$/, 'Goodbye!'],
  [
    /^(?:who|what) are you(?: exactly)?$|^what is your name$|^what(?:['’]s| is) this (?:assistant|bot|chat|model|thing)$|^(?:are|is) (?:you|this) (?:an? )?(?:real )?(?:ai|bot|robot|human|person|llm|language model|chatbot|machine)$|^(?:which|what) (?:language )?(?:model|llm|ai)(?: (?:are you|is this|do you use|are you using|version))?$/,
    about,
  ],
  [
    /^(?:help|help me|what (?:can|do) you do|what (?:can|could|should) i (?:ask|do)(?: (?:you|here))?|how (?:can|could) you help(?: me)?|how do(?:es)? (?:you|this) work|how do i use (?:you|this)|what do you know|can you help(?: me)?|test|ping)$/,
    about,
  ],
]

/** The reply to a message that asks nothing of the documents: a greeting, thanks, a question about the model. */
export function smallTalk(message: string): string | undefined {
  const bare = message
    .toLowerCase()
    .replace(/[\s!?.,:;)(]+|[\p{Emoji_Presentation}\p{Extended_Pictographic}\uFE0F]/gu, ' ')
    .trim()
  if (bare === '') return 'Ask me a question, and I will look for the answer in the documents.'
  const replyTo = (text: string): string | undefined => replies.find(([pattern]) => pattern.test(text))?.[1]
  // "hi, who are you" is a greeting and a question about the model.
  return (
    replyTo(bare) ??
    replyTo(bare.replace(/^(?:hi|hello|hey|ok|okay|thanks|thank you|so|well|great|cool)(?: there)? /, ''))
  )
}

/** The answer when no search can be made and nothing at hand answers. */
export const withoutDocuments =
  'I can only answer from documents, and searching them is not available for this message. I am the built-in extractive model: I quote the sentences that fit best, and know nothing by myself.'
